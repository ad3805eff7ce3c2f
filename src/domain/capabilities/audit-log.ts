import type { Declaration } from '../capability.ts';

export const auditLog = {
  name: 'audit log',
  folders: ['audit', 'audit-log'],
  tags: { 'Audit log': 'The changes, their authors and times.' },
  ids: ['auditEntry'],
  quotas: {
    auditBytes: {
      setting: 'QUOTA_AUDIT_BYTES',
      default: 1024 ** 3,
      inBytes: true,
      what: 'bytes in the audit log (plus a tenth reserved for admins)',
      remedy:
        'Revoking keys, deleting and archiving still work. Ask the operator to keep entries for a shorter time (AUDIT_RETENTION)',
    },
  },
  retention: { auditLog: { setting: 'AUDIT_RETENTION', atLeast: 24 * 60 * 60_000 } },
} as const satisfies Declaration;
