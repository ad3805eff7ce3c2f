import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type AuditRow, listAuditLog } from '../../services/audit/list-audit-log.ts';
import { type AuditEntry, AuditLogPage, ListQuery } from './schema.ts';

const example: z.input<typeof AuditEntry> = {
  id: 'aud_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  actor: {
    type: 'session',
    key_id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
    key_name: 'Ada',
    member_id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
    session_id: 'sess_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  },
  action: 'label.moved',
  resource: { type: 'prompt', id: 'support/greeting' },
  details: { label: 'production', version: 3, previous_version: 2 },
  address: '192.0.2.1',
  request_id: 'req_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:00.000Z',
};

function present(row: AuditRow): z.input<typeof AuditEntry> {
  return {
    id: publicId('auditEntry', row.id),
    actor: {
      type: row.actor_type,
      key_id: row.key_id === null ? null : publicId('apiKey', row.key_id),
      key_name: row.key_name,
      member_id: row.member_id === null ? null : publicId('member', row.member_id),
      session_id: row.session_id === null ? null : publicId('session', row.session_id),
    },
    action: row.action,
    resource: { type: row.resource_type, id: row.resource_id },
    details: row.details,
    address: row.address,
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
  };
}

/** `/audit-log`: who changed what. */
export function auditLogRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/audit-log',
      operationId: 'listAuditLog',
      tag: 'Audit log',
      summary: 'List audit log entries, newest first',
      description:
        'Each entry is stored together with its change. Entries are never modified and are removed only with the workspace.',
      scope: 'admin',
      query: ListQuery,
      response: AuditLogPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor, ...filter } }) {
        const page = await listAuditLog(db, filter, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, present, (row) => row.id);
      },
    }),
  ];
}
