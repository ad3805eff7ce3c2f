/** Samples for the documentation. */
export const memberSample = {
  id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'editor',
  role_set: null,
  status: 'active',
  last_seen_at: '2026-01-31T12:00:00.000Z',
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
} as const;

export const personalKeySample = {
  id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: "Ada's editor",
  kind: 'personal',
  member_id: memberSample.id,
  scopes: ['read', 'execute'],
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
};
