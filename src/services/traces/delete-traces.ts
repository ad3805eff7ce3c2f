import type { Query, SystemDatabase, WorkspaceDatabase } from '../../db/database.ts';
import { deleteInBatches, toDelete } from '../../db/delete-in-batches.ts';
import { ago, anyOf } from '../../db/sql.ts';
import { notFound } from '../../domain/errors.ts';
import { traceIdOf } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import { daysOf } from './ingest-steps.ts';
import { dayOf, dropDaysBefore } from './partitions.ts';
import { TRACE_COLUMNS, type TraceRow } from './traces.ts';

/** Traces that are read and deleted at a time: a user can have millions. */
const AT_ONCE = 500;

/** Deletes locked traces, with their steps and the executions that were recorded in them. @param traces some, not none */
export async function removeTraces(
  query: Query,
  traces: readonly Pick<TraceRow, 'id' | 'first_day' | 'last_day'>[],
): Promise<void> {
  const ids = traces.map(({ id }) => id);
  const { first, last } = daysOf(traces);
  await query((db) =>
    db.deleteFrom('trace_steps').where('trace_id', '=', anyOf(ids)).where('day', '>=', first).where('day', '<=', last),
  );
  await query((db) => db.deleteFrom('executions').where('trace_id', '=', anyOf(ids)).where('recorded', '=', true));
  await query((db) => db.deleteFrom('traces').where('id', '=', anyOf(ids)));
}

/**
 * Deletes a trace with everything recorded in it; the usage of its calls stays in the sums of usage.
 * @param id UUID
 * @returns the deleted trace
 * @throws ApiError `not_found`
 */
export const deleteTrace = (db: WorkspaceDatabase, id: string): Promise<TraceRow> =>
  db.transaction(async (query) => {
    const [row] = await query((own) => own.selectFrom('traces').select(TRACE_COLUMNS).where('id', '=', id).forUpdate());
    if (row === undefined) throw notFound('This trace');
    await removeTraces(query, [row]);
    await recordChange(query, 'trace.deleted', traceIdOf(id), {});
    return row;
  });

/**
 * Deletes all traces of a conversation or a user. If several calls run concurrently, the first to lock the traces deletes them: the others find none.
 * @returns how many
 * @throws ApiError `not_found`
 */
async function deleteAll(
  db: WorkspaceDatabase,
  {
    column,
    value,
    action,
    what,
  }: { column: 'conversation_id' | 'user_id'; value: string; action: Deletion; what: string },
): Promise<number> {
  return db.transaction(async (query) => {
    let count = 0;
    for (;;) {
      const rows = await query((own) =>
        own
          .selectFrom('traces')
          .select(['id', 'first_day', 'last_day'])
          .where(column, '=', value)
          .orderBy('id')
          .limit(AT_ONCE)
          .forUpdate(),
      );
      if (rows.length === 0) break;
      await removeTraces(query, rows);
      count += rows.length;
    }
    if (count === 0) throw notFound(what);
    if (column === 'conversation_id')
      await query((own) => own.deleteFrom('scores').where('conversation_id', '=', value));
    await recordChange(query, action, value, {});
    return count;
  });
}
type Deletion = 'conversation.deleted' | 'trace_user.deleted';

export const deleteConversation = (db: WorkspaceDatabase, id: string): Promise<number> =>
  deleteAll(db, { column: 'conversation_id', value: id, action: 'conversation.deleted', what: 'This conversation' });

export const deleteTracesOfUser = (db: WorkspaceDatabase, userId: string): Promise<number> =>
  deleteAll(db, { column: 'user_id', value: userId, action: 'trace_user.deleted', what: 'This user' });

/**
 * Deletes traces that started longer ago than `retentionMs`, and drops the days of steps that ended before then. Their executions stay. Scores of
 * traces are deleted with them; scores of conversations, and of traces that never arrived, at the same age.
 */
export async function expireTraces(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const expired = toDelete('traces', (eb) => ({ where: eb('started_at', '<', ago(retentionMs)) }));
  await deleteInBatches(db.query, expired, signal);
  const scores = toDelete('scores', (eb) => ({
    where: eb.and([
      eb('execution_id', 'is', null),
      eb('evaluation_id', 'is', null),
      eb('created_at', '<', ago(retentionMs)),
    ]),
    bytes: eb.ref('bytes'),
  }));
  await deleteInBatches(db.query, scores, signal);
  await dropDaysBefore(db, dayOf((Date.now() - retentionMs) * 1000), signal);
}
