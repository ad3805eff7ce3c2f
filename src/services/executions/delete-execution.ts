import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { EXECUTION_COLUMNS, type ExecutionRow, getExecution } from './executions.ts';

/** An idempotency key holds the answer, too: it goes with what it answered. */
const DELETE = {
  text: `with gone as (
           delete from executions where workspace_id = $1 and id = $2 and ${executionStates.in(executionStates.final)}
           returning ${EXECUTION_COLUMNS}
         ), keys as (
           delete from idempotency_keys where workspace_id = $1 and resource_id in (select id::text from gone)
         ) select * from gone`,
};

/**
 * Deletes an execution that has ended. What it used stays in the sums of usage.
 * @returns it as it was
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function deleteExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const [deleted] = await db.query<ExecutionRow>(DELETE, [id]);
  if (deleted) return deleted;
  const { status } = await getExecution(db, id);
  throw new ApiError('invalid_state', `This execution is ${status}: cancel it first, or wait for its end.`);
}
