import type { Declaration } from '../capability.ts';

/** Workspaces, and what all capabilities share: sums of storage, idempotency keys. */
export const workspaces = {
  name: 'workspaces',
  folders: ['notifications'],
  ids: ['workspace'],
  audit: { 'workspace.created': 'workspace', 'workspace.owner_changed': 'workspace' },
} as const satisfies Declaration;
