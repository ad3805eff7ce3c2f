import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { withdrawUnaccepted } from '../services/executions/creation/withdraw-execution.ts';
import type { OnExecutionEnd } from '../services/executions/execution-metrics.ts';
import { type StoredExecution, startExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import { failExecution } from '../services/executions/run/end-execution.ts';
import { completeExecution } from '../services/executions/run/store-response.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { compareWithWorkflow } from './compare-with-workflow.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

const ENDED_BY_OPERATOR = {
  code: 'model_unavailable',
  message: 'An operator ended the run before the model responded, or its end is missing from a restored database.',
} as const;

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

function reconcileOne(
  { system: { query } }: Database,
  { onEnd, ...deps }: WorkflowStarter & { log: Logger; onEnd: OnExecutionEnd | undefined },
  execution: StoredExecution & { answered: SqlBool; unaccepted: SqlBool },
): Promise<void> {
  const { id, answered } = execution;
  return compareWithWorkflow(deps, 'execution', execution, {
    workflowId: executionWorkflowId(id),
    withdraw: () => withdrawUnaccepted(query, id),
    start: () => startExecutionWorkflow(deps, execution),
    end: () => (answered ? completeExecution(query, id, onEnd) : failExecution(query, id, ENDED_BY_OPERATOR, onEnd)),
  });
}

/**
 * One look at what should be running, so that none stays unfinished for ever. Starts an execution anew whose workflow Temporal has
 * lost, and ends one whose workflow was ended from outside. One that no caller was told of, since the process died
 * between row and start, is withdrawn.
 * @param onEnd told of each execution that is ended here
 * @throws Error where Temporal or the database is away; what was not looked at is at the next call
 */
export function reconcileExecutions(
  db: Database,
  starter: WorkflowStarter,
  log: Logger,
  onEnd?: OnExecutionEnd,
): Promise<void> {
  return reconcile(db.system.query, log, {
    table: 'executions',
    take: takeUnfinished,
    reconcile: (execution) => reconcileOne(db, { ...starter, log, onEnd }, execution),
  });
}
