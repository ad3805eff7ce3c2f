/** Samples for the documentation. */
export const sessionSample = {
  id: 'sess_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  key: { id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', name: 'Ada', scopes: ['read', 'execute', 'write'] },
  workspace: { name: 'default' },
  member: { id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', name: 'Ada', role: 'editor' as const },
  provider: 'sso',
  is_current: true,
  address: '192.0.2.1',
  user_agent: 'Mozilla/5.0',
  created_at: '2026-01-31T12:00:00.000Z',
  last_used_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-02-01T00:00:00.000Z',
};

export const ownSessionSample = {
  ...sessionSample,
  drafts_key: 'kR0n0hS4cS7mJv3yN0nqXc2lq0mB5b0aWzvJ1kq3m2E=',
  workspaces: [
    { name: 'default', role: 'editor' as const },
    { name: 'research', role: 'viewer' as const },
  ],
};
