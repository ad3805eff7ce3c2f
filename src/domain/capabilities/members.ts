import type { Declaration } from '../capability.ts';

export const members = {
  name: 'members',
  folders: ['scim', 'provisioning'],
  tags: { Members: 'Members of the workspace, authenticated by an identity provider, and their keys.' },
  ids: ['member', 'user', 'userGroup'],
  audit: {
    'member.joined': 'member',
    'member.role_changed': 'member',
    'member.suspended': 'member',
    'member.reinstated': 'member',
    'member.removed': 'member',
  },
  auditedWhenFull: ['member.suspended', 'member.removed'],
} as const satisfies Declaration;
