import { type Expression, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { AuditAction, AuditedType } from '../../domain/audit.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';

const COLUMNS = [
  'id',
  'actor_type',
  'key_id',
  'key_name',
  'member_id',
  'session_id',
  'action',
  'resource_type',
  'resource_id',
  'details',
  'address',
  'request_id',
  'created_at',
] as const;

const select = (db: Builder) =>
  db.selectFrom('audit_log').select(COLUMNS).$narrowType<{ details: Record<string, JsonValue> }>();

export type AuditRow = Awaited<ReturnType<typeof listAuditLog>>['rows'][number];

export interface AuditFilter {
  actor?: { keyId: string } | { sessionId: string } | { memberId: string } | 'operator' | 'provisioning' | undefined;
  action?: AuditAction | undefined;
  resource?: { type: AuditedType; id: string | undefined } | undefined;
  /** Only entries created at or after this time. */
  since?: Date | undefined;
  /** Only entries created before this time. */
  until?: Date | undefined;
}

/** Entries of the audit log, newest first: a page of at most `limit` before the id `before`. */
export function listAuditLog(
  { query }: { query: Query },
  { actor, action, resource, since, until }: AuditFilter,
  limit: number,
  before: string | undefined,
) {
  const { from, to } = idsOfSpan(since, until);
  return selectPage(
    query,
    {
      select: (db) =>
        select(db).where((eb) => {
          const conditions: Expression<SqlBool>[] = [eb('id', '>=', from), eb('id', '<', to)];
          if (actor === 'operator' || actor === 'provisioning')
            conditions.push(eb('key_id', 'is', null), eb('actor_type', '=', actor));
          else if (actor !== undefined) {
            if ('keyId' in actor) conditions.push(eb('key_id', '=', actor.keyId));
            else if ('memberId' in actor) conditions.push(eb('member_id', '=', actor.memberId));
            else conditions.push(eb('session_id', '=', actor.sessionId));
          }
          if (resource !== undefined) conditions.push(eb('resource_type', '=', resource.type));
          return eb.and([
            ...conditions,
            ...given(resource?.id, (value) => eb('resource_id', '=', value)),
            ...given(action, (value) => eb('action', '=', value)),
            ...given(since, (value) => eb('created_at', '>=', value)),
            ...given(until, (value) => eb('created_at', '<', value)),
            ...given(before, (value) => eb('id', '<', value)),
          ]);
        }),
      orderBy: [['id', 'desc']],
      bytes: () => sql<number>`pg_column_size(details)`,
    },
    limit,
  );
}
