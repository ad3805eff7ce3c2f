import type { WorkspaceDatabase } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { readExecutionView, type SeenExecution } from '../executions.ts';

const ACCEPT = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('executions')
    .set((eb) => ({ accepted_at: eb.fn.coalesce('accepted_at', now) }))
    .where('id', '=', id)
    .where(inStates(executionStates, ['queued']))
    .returning('id'),
);

/**
 * Reads the execution for a caller about to be notified of it. A queued execution is marked as accepted, so that it runs whatever
 * happens from now on.
 * @throws ApiError `not_found`
 */
export async function acceptExecution(db: WorkspaceDatabase, id: string): Promise<SeenExecution> {
  const seen = await readExecutionView(db, id);
  if (seen.status !== 'queued') return seen;
  const [accepted] = await db.query(ACCEPT, { id });
  return accepted === undefined ? readExecutionView(db, id) : seen;
}
