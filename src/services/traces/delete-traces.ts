import type { Query, SystemDatabase, WorkspaceDatabase } from '../../db/database.ts';
import { deleteInBatches, toDelete } from '../../db/delete-in-batches.ts';
import { ago, anyOf } from '../../db/sql.ts';
import { notFound } from '../../domain/errors.ts';
import { traceIdOf } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import { dayOf, dropDaysBefore } from './partitions.ts';
import { TRACE_COLUMNS, type TraceRow } from './traces.ts';

/** Deletes a trace that is locked, with its steps and the executions that they were recorded as. */
async function remove(
  query: Query,
  { id, first_day: first, last_day: last }: Pick<TraceRow, 'id' | 'first_day' | 'last_day'>,
) {
  const steps = await query((db) =>
    db
      .deleteFrom('trace_steps')
      .where('trace_id', '=', id)
      .where('day', '>=', first)
      .where('day', '<=', last)
      .returning('execution_id'),
  );
  const executions = steps.flatMap(({ execution_id: execution }) => (execution === null ? [] : [execution]));
  if (executions.length > 0)
    await query((db) =>
      db
        .deleteFrom('executions')
        .where('id', '=', anyOf(executions))
        .where('recorded', '=', true)
        .where('record_key', 'like', `${traceIdOf(id)}:%`),
    );
  await query((db) => db.deleteFrom('traces').where('id', '=', id));
}

/**
 * Deletes a trace with all that was recorded of it; what its calls have used stays in the sums of usage.
 * @param id UUID
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export const deleteTrace = (db: WorkspaceDatabase, id: string): Promise<TraceRow> =>
  db.transaction(async (query) => {
    const [row] = await query((own) => own.selectFrom('traces').select(TRACE_COLUMNS).where('id', '=', id).forUpdate());
    if (row === undefined) throw notFound('This trace');
    await remove(query, row);
    await recordChange(query, 'trace.deleted', traceIdOf(id), {});
    return row;
  });

/**
 * Deletes the traces of a conversation, one after the other.
 * @returns how many
 * @throws ApiError `not_found`
 */
export async function deleteConversation(db: WorkspaceDatabase, conversationId: string): Promise<number> {
  let count = 0;
  for (;;) {
    const deleted = await db.transaction(async (query) => {
      const [row] = await query((own) =>
        own
          .selectFrom('traces')
          .select(['id', 'first_day', 'last_day'])
          .where('conversation_id', '=', conversationId)
          .limit(1)
          .forUpdate(),
      );
      if (row === undefined) return false;
      if (count === 0) {
        await recordChange(query, 'conversation.deleted', conversationId, {});
        await query((own) => own.deleteFrom('scores').where('conversation_id', '=', conversationId));
      }
      await remove(query, row);
      return true;
    });
    if (!deleted) break;
    count += 1;
  }
  if (count === 0) throw notFound('This conversation');
  return count;
}

/**
 * Deletes traces that began longer ago than `retentionMs`, and drops the days of steps that ended before then. Their executions stay. Scores of
 * traces go with them; those of conversations, and of traces that never came, when they are as old.
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
