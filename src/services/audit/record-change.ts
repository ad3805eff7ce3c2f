import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { type ActorType, AUDIT_ACTIONS, type AuditAction, NEVER_REFUSED } from '../../domain/audit.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { type Acting, currentActor } from './acting.ts';

function typeOf({ key, by }: Acting): ActorType {
  if (key === undefined) return by ?? 'operator';
  return key.sessionId === undefined ? 'api_key' : 'session';
}

/** The maximum number of rows in a statement, whose parameters are limited. */
const MAX_ROWS = 1_000;

/** What was changed, and how. */
export interface Change {
  /** A name or a public id. */
  resourceId: string;
  /** A few short values; never a secret or a caller's text. */
  details: Record<string, JsonValue>;
}

/**
 * Records a change in the audit log, in the transaction that makes it. Changes by the service itself are not recorded.
 * @param resourceId a name or a public id
 * @param details what changed, in a few short values; never a secret or a caller's text
 * @throws ApiError `quota_exceeded` if the audit log of the workspace is full
 */
export const recordChange = (
  query: Query,
  action: AuditAction,
  resourceId: string,
  details: Record<string, JsonValue> = {},
): Promise<void> => recordChanges(query, action, [{ resourceId, details }]);

/** Records the same action on many resources, in a few statements. */
export async function recordChanges(query: Query, action: AuditAction, changes: readonly Change[]): Promise<void> {
  const who = currentActor();
  if (who === undefined || changes.length === 0) return;
  if (who.actions !== undefined && !who.actions.includes(action))
    throw new Error(`The operation does not declare that it records ${action}.`);
  if (!NEVER_REFUSED.has(action)) await who.requireRoom?.(query);
  const shared = {
    actor_type: typeOf(who),
    key_id: who.key?.id ?? null,
    key_name: who.key?.name ?? null,
    member_id: who.key?.memberId ?? null,
    session_id: who.key?.sessionId ?? null,
    action,
    resource_type: AUDIT_ACTIONS[action],
    address: who.address ?? null,
    request_id: who.requestId ?? null,
    created_at: now,
  };
  const rows = changes.map(({ resourceId, details }) => ({
    id: newId(),
    ...shared,
    resource_id: resourceId,
    details: asJson(details),
  }));
  for (let at = 0; at < rows.length; at += MAX_ROWS) {
    const part = rows.slice(at, at + MAX_ROWS);
    await query((db) => db.insertInto('audit_log').values(part));
  }
}
