import type { WorkspaceDatabase } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared } from '../../db/statement.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { acceptExecution } from '../executions/creation/accept-execution.ts';
import { type ExecutionRow, getExecution, isFinished } from '../executions/executions.ts';
import { BEGINNING, LAST_SEQUENCE } from './deltas.ts';
import { type EventId, invalidEventId } from './stream-events.ts';
import type { Position } from './stream-position.ts';

const STREAM_NEXT_CALL = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('executions')
    .set({ streamed: true })
    .where('id', '=', id)
    .where('streamed', '=', false)
    .where(inStates(executionStates, UNFINISHED_EXECUTION)),
);

/**
 * The execution when a reader starts to read it, and the position where the reader starts. Calls that start from now on are streamed.
 * @param after the last event that the reader has; undefined: none
 * @throws ApiError `not_found`; `invalid_request` if there is no such event
 */
export async function openStream(
  db: WorkspaceDatabase,
  id: string,
  after: EventId | undefined,
): Promise<{ execution: ExecutionRow; position: Position }> {
  const seen = await acceptExecution(db, id);
  const execution = seen.row ?? (await getExecution(db, id));
  if (!isFinished(execution.status)) await db.query(STREAM_NEXT_CALL, { id });
  // If there was no call yet, the first one is still to start.
  const attempts = Math.max(execution.attempts, 1);
  if (after !== undefined) await checkEventId(db, execution, attempts, after);
  const position = { ...(after ?? { attempt: attempts, sequence: BEGINNING }), skippedAttempt: 0 };
  return { execution, position };
}

/** Once the rows are deleted, the number of events of an attempt is unknown. */
async function checkEventId(
  db: WorkspaceDatabase,
  { id, attempts: called, status }: ExecutionRow,
  attempts: number,
  { attempt, sequence }: EventId,
): Promise<void> {
  const unknown = invalidEventId('is not an event of this execution');
  if (attempt > attempts || (called === 0 && sequence > BEGINNING)) throw unknown;
  const [row] = await db.query(LAST_SEQUENCE, { id, attempt });
  const last = row?.last ?? null;
  // The end has no row.
  if (last !== null && sequence > last + (isFinished(status) ? 1 : 0)) throw unknown;
}
