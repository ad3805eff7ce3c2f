import { sql } from 'kysely';
import type { Logger } from 'pino';
import { claim, distinctKeys } from '../db/claim.ts';
import type { Database } from '../db/database.ts';
import { bindWorkspace, type Query } from '../db/database.ts';
import { prepared } from '../db/statement.ts';
import { enterQueue, roomOf } from '../services/queues/add-items.ts';
import { filteredQueues } from '../services/queues/queues.ts';

/** The number of executions and traces that one transaction processes. */
const BATCH_SIZE = 1_000;
/** After waiting this long for a row, a workspace is left to the next time, because the others wait, too. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Adds executions and traces to the queues whose filters they match: those that have ended, settled or got a score since the last time, as
 * recorded in `queue_candidates`. Each is checked again after each of its scores, and is added to a queue only once. Its
 * record is deleted in the same transaction, so none is lost. A full queue accepts no more. Safe to run in several processes at once.
 * @param signal stops after the current step
 */
export async function fillQueues(
  { db, log }: { db: Pick<Database, 'system'>; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  let waiting = await workspacesOf(db.system.query);
  while (waiting.length > 0 && !signal.aborted) {
    const more: string[] = [];
    // In turn: a workspace with many waits for the others after each batch.
    for (const id of waiting) {
      if (signal.aborted) return;
      try {
        const looked = await db.system.transaction((query) => fill(query, id));
        if (looked === BATCH_SIZE) more.push(id);
      } catch (error) {
        log.warn({ err: error, workspace: id }, 'cannot fill the queues of a workspace; it will be tried again');
      }
    }
    waiting = more;
  }
}

const WAITING = prepared()((db) =>
  distinctKeys(db, 'queue_candidates', ['workspace_id']).selectFrom('found').select('found.workspace_id as id'),
);
const workspacesOf = async (query: Query): Promise<string[]> => (await query(WAITING, {})).map(({ id }) => id);

/** @returns the number of records processed */
async function fill(query: Query, workspaceId: string): Promise<number> {
  await query({ text: `set local lock_timeout = ${LOCK_TIMEOUT_MS}` });
  const own = bindWorkspace(query, workspaceId);
  const taken = await own((db) =>
    db
      .deleteFrom('queue_candidates')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('queue_candidates')
          .select('id')
          .orderBy('id')
          .$call(claim(sql.lit(BATCH_SIZE))),
      )
      .returning(['execution_id', 'trace_id']),
  );
  const idsOf = (column: 'execution_id' | 'trace_id') => [...new Set(taken.flatMap((row) => row[column] ?? []))].sort();
  const [executions, traces] = [idsOf('execution_id'), idsOf('trace_id')];
  if (taken.length === 0) return 0;
  for (const { id, filter, trace_filter: traceFilter, sample_rate: sampleRate } of await filteredQueues(own)) {
    const room = await roomOf(own, id);
    const entering = (ids: string[]) => ({ sampleRate, limit: ids.length, ids, room });
    if (filter !== null) await enterQueue(own, id, { filter, ...entering(executions) });
    if (traceFilter !== null) await enterQueue(own, id, { traceFilter, ...entering(traces) });
  }
  return taken.length;
}
