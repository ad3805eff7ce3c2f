import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { failExecution } from '../services/executions/end-execution.ts';
import { type StoredExecution, startExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import { completeExecution } from '../services/executions/store-response.ts';
import { withdrawUnaccepted } from '../services/executions/withdraw-execution.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import { type WorkflowStarter, workflowState } from '../temporal/workflows.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

const takeUnfinished = (db: Builder) =>
  overdue(db, 'executions', inStates(executionStates, UNFINISHED_EXECUTION))
    .updateTable('executions as e')
    .from('overdue')
    .set({ check_at: NEXT_CHECK })
    .whereRef('e.id', '=', 'overdue.id')
    .returning(['e.id', 'workspace_id as workspaceId', 'prompt_name as promptName', 'prompt_version as promptVersion'])
    .returning((eb) => [
      'model',
      sql<number>`octet_length(coalesce(input, input_messages::text))`.as('inputChars'),
      eb('answered_at', 'is not', null).as('answered'),
      eb.and([eb('accepted_at', 'is', null), inStates(executionStates, ['queued'])]).as('unaccepted'),
    ]);

type Unfinished = StoredExecution & { answered: SqlBool; unaccepted: SqlBool };

async function reconcileOne(db: Database, starter: WorkflowStarter, log: Logger, execution: Unfinished): Promise<void> {
  const { query } = db.system;
  const state = await workflowState(starter.client, executionWorkflowId(execution.id));
  if (state === 'running') return;
  if (execution.unaccepted) {
    if (await withdrawUnaccepted(query, execution.id))
      log.warn({ execution_id: execution.id }, 'withdrew an execution that no caller had been told of');
  } else if (state === 'missing') {
    if (await startExecutionWorkflow(starter, execution))
      log.warn({ execution_id: execution.id }, 'started an execution that had been left without its workflow');
  } else {
    if (execution.answered) await completeExecution(query, execution.id);
    else
      await failExecution(query, execution.id, {
        code: 'model_unavailable',
        message: 'The run was ended by an operator before the model responded.',
      });
    log.warn({ execution_id: execution.id }, 'ended an execution whose workflow had been ended from outside');
  }
}

/**
 * One look at what should be running, so that none stays unfinished for ever. Starts an execution anew whose workflow Temporal has
 * lost, and ends one whose workflow was ended from outside. One that no caller was told of, since the process died
 * between row and start, is withdrawn.
 * @throws Error where Temporal or the database is away; what was not looked at is at the next call
 */
export function reconcileExecutions(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile(db.system.query, log, {
    table: 'executions',
    take: takeUnfinished,
    reconcile: (execution) => reconcileOne(db, starter, log, execution),
  });
}
