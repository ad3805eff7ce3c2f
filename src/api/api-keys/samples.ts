/** Samples for the documentation. */
export const apiKeySample = {
  id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'checkout service',
  kind: 'service',
  member_id: null,
  scopes: ['read', 'execute'],
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
};
