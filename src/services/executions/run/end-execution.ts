import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { CHANNELS } from '../../../db/listener.ts';
import { notify, now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson, prepared } from '../../../db/statement.ts';
import { ApiError } from '../../../domain/errors.ts';
import { type ExecutionStatus, executionStates } from '../../../domain/execution-states.ts';
import { publicId } from '../../../domain/ids.ts';
import { recordChange } from '../../audit/record-change.ts';
import { type NewEvent, newEvent } from '../../events/write-event.ts';
import { END_AND_NOTIFICATIONS, END_MEASURES, endEvent, FAILED_DATA } from '../execution-events.ts';
import type { OnExecutionEnd } from '../execution-metrics.ts';
import { EXECUTION_COLUMNS, type ExecutionRow, executionStatus, getExecution } from '../executions.ts';
import { callCanceled, callLost, type ExecutionError } from './calls.ts';

const FAIL = changeState(executionStates, { to: 'failed' });
const CANCEL = changeState(executionStates, { to: 'canceled' });

const FAIL_EXECUTION = prepared<NewEvent & { id: string; error: ExecutionError }>()(
  (db, { id, error, eventId, traceparent }) =>
    db
      .with('done', (cte) =>
        cte
          .updateTable('executions')
          .set({ ...FAIL.set, error: asJson(error), calls: callLost, finished_at: now })
          .where('id', '=', id)
          .where(FAIL.where)
          .returningAll(),
      )
      .with('event', endEvent('execution.failed', { eventId, traceparent }, FAILED_DATA))
      .selectFrom('done')
      .select(END_AND_NOTIFICATIONS),
);
/** Requests waiting for the execution are notified immediately. */
const CANCEL_EXECUTION = prepared<{ id: string }>()((db, { id }) =>
  db
    .with('done', (cte) =>
      cte
        .updateTable('executions')
        .set({ ...CANCEL.set, calls: callCanceled, finished_at: now })
        .where('id', '=', id)
        .where(CANCEL.where)
        .returning(EXECUTION_COLUMNS),
    )
    .selectFrom('done')
    .selectAll()
    .select(END_MEASURES)
    .select(notify(CHANNELS.executionFinished, sql.ref<string>('id')).as('finished_told')),
);

/**
 * Ends an execution with an error, or as canceled (null). An ended execution is left unchanged.
 * @param onEnd called if this call ended it
 * @returns its current status, undefined if there is no such execution
 */
export async function failExecution(
  query: Query,
  id: string,
  error: ExecutionError | null,
  onEnd?: OnExecutionEnd,
): Promise<ExecutionStatus | undefined> {
  const [ended] =
    error === null ? await query(CANCEL_EXECUTION, { id }) : await query(FAIL_EXECUTION, { id, ...newEvent(), error });
  if (ended !== undefined) onEnd?.(ended);
  return ended?.status ?? executionStatus(query, id);
}

/**
 * Marks an execution as canceled. A response that arrives later is kept, but does not change the status.
 * @param onEnd called when it is canceled
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function cancelExecution(
  db: WorkspaceDatabase,
  id: string,
  onEnd?: OnExecutionEnd,
): Promise<ExecutionRow> {
  const canceled = await db.transaction(async (query) => {
    const [row] = await query(CANCEL_EXECUTION, { id });
    if (row)
      await recordChange(query, 'execution.canceled', publicId('execution', id), { prompt_name: row.prompt_name });
    return row;
  });
  if (canceled) {
    onEnd?.(canceled);
    return canceled;
  }
  const { status } = await getExecution(db, id);
  throw new ApiError('invalid_state', `This execution has ended as ${status}: there is nothing to cancel.`);
}
