import { auditLogRoutes } from '../api/audit-log/routes.ts';
import { PASS_AUDIT_GUARD } from '../db/audit-guard.ts';
import { toDelete } from '../db/delete-in-batches.ts';
import { expireAuditLog } from '../jobs/retention.ts';
import type { Capability } from './capability.ts';

export const auditLog: Capability = {
  name: 'audit log',
  routes: auditLogRoutes,
  rows: [toDelete('audit_log', () => ({ where: PASS_AUDIT_GUARD, byId: true }))],
  expired: ({ auditLog: forMs }) => (forMs === undefined ? [] : [(db, signal) => expireAuditLog(db, forMs, signal)]),
};
