import type { SystemDatabase } from '../db/database.ts';
import { pause } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { idsOfSpan } from '../domain/ids.ts';

/** The time after the end of an execution in which readers whose connection broke can continue. */
const KEPT_MS = 5 * 60_000;
/** The number of executions whose rows a transaction deletes. */
const EXECUTIONS_AT_ONCE = 20;

/**
 * Deletes the rows of streams some minutes after the end of their execution, or once it is gone, in small steps. Safe to run in
 * several processes at once.
 * @param signal stops after the current step
 * @param retentionMs how long rows are kept after the end. Default: 5 min
 */
export async function cleanUpStreams(
  { query }: Pick<SystemDatabase, 'query'>,
  signal: AbortSignal,
  retentionMs: number = KEPT_MS,
): Promise<void> {
  let last = idsOfSpan(undefined, undefined).from;
  while (!signal.aborted) {
    const found = await query((db) =>
      db
        .selectFrom('stream_deltas')
        .select('execution_id as id')
        .distinct()
        .where('execution_id', '>', last)
        .orderBy('execution_id')
        .limit(EXECUTIONS_AT_ONCE),
    );
    const ids = found.map(({ id }) => id);
    const next = ids.at(-1);
    if (next === undefined) return;
    await query((db) =>
      db
        .deleteFrom('stream_deltas')
        .where('execution_id', 'in', ids)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('executions as e')
                .select('e.id')
                .whereRef('e.id', '=', 'stream_deltas.execution_id')
                .where((of) =>
                  of.or([
                    inStates(executionStates, UNFINISHED_EXECUTION, 'e'),
                    of('e.finished_at', '>', ago(retentionMs)),
                  ]),
                ),
            ),
          ),
        ),
    );
    last = next;
    await pause(signal);
  }
}
