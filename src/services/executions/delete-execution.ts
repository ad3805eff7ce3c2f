import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { ApiError } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import { EXECUTION_COLUMNS, type ExecutionRow, getExecution } from './executions.ts';

/**
 * Deletes an ended execution. Its usage still counts in the usage sums. Its idempotency key also contains the response and is
 * deleted with it.
 * @returns it as it was
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function deleteExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const deleted = await db.transaction((query) => remove(query, id));
  if (deleted) return deleted;
  const { status } = await getExecution(db, id);
  throw new ApiError('invalid_state', `This execution is ${status}: cancel it first, or wait for its end.`);
}

async function remove(query: Query, id: string): Promise<ExecutionRow | undefined> {
  const [deleted] = await query((own) =>
    own
      .with('gone', (cte) =>
        cte
          .deleteFrom('executions')
          .where('id', '=', id)
          .where(inStates(executionStates, executionStates.final))
          .returning(EXECUTION_COLUMNS),
      )
      .with('keys', (cte) =>
        cte
          .deleteFrom('idempotency_keys')
          .where('resource_id', 'in', cte.selectFrom('gone').select(sql<string>`${sql.ref('gone.id')}::text`.as('id'))),
      )
      .selectFrom('gone')
      .selectAll(),
  );
  if (deleted)
    await recordChange(query, 'execution.deleted', publicId('execution', id), { prompt_name: deleted.prompt_name });
  return deleted;
}
