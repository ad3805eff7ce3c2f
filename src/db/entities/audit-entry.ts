import { defineEntity, p } from '@mikro-orm/core';
import type { ActorType, AuditAction, AuditedType } from '../../domain/audit.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { auditGuard } from '../audit-guard.ts';
import { auditStorageTriggers } from '../storage-triggers.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** Who has changed what: written in the transaction of the change, and never modified. It outlives the resource. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'action', 'id'] },
    { properties: ['workspaceId', 'resourceType', 'id'] },
    { properties: ['workspaceId', 'resourceType', 'resourceId', 'id'] },
    { properties: ['workspaceId', 'keyId', 'id'] },
    {
      name: 'audit_log_workspace_id_member_id_id_index',
      expression: `create index "audit_log_workspace_id_member_id_id_index" on "audit_log" ("workspace_id", "member_id", "id") where "member_id" is not null`,
    },
    {
      name: 'audit_log_workspace_id_session_id_id_index',
      expression: `create index "audit_log_workspace_id_session_id_id_index" on "audit_log" ("workspace_id", "session_id", "id") where "session_id" is not null`,
    },
  ],
  triggers: [auditGuard, ...auditStorageTriggers],
  properties: {
    ...workspaceOwned,
    actorType: p.text().$type<ActorType>(),
    /** The key, or the key of the session; null: the operator. */
    keyId: p.uuid().nullable(),
    keyName: p.text().nullable(),
    /** The member who owns or created the key. */
    memberId: p.uuid().nullable(),
    sessionId: p.uuid().nullable(),
    action: p.text().$type<AuditAction>(),
    resourceType: p.text().$type<AuditedType>(),
    /** A name or a public id. */
    resourceId: p.text(),
    details: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    address: p.text().nullable(),
    requestId: p.text().nullable(),
    createdAt: timestamp(),
  },
});
