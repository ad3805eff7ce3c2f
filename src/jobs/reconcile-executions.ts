import { sql } from 'kysely';
import { inStates } from '../db/state-change.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { withdrawUnaccepted } from '../services/executions/creation/withdraw-execution.ts';
import type { OnExecutionEnd } from '../services/executions/execution-metrics.ts';
import { startExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import { failExecution } from '../services/executions/run/end-execution.ts';
import { completeExecution } from '../services/executions/run/store-response.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import { compareWithWorkflow, type ReconcileDeps, reconcile } from './reconcile.ts';

const ENDED_BY_OPERATOR = {
  code: 'model_unavailable',
  message: 'An operator ended the run before the model responded, or its end is missing from a restored database.',
} as const;

/** @param deps `onExecutionEnd`: called for each execution that is ended here */
export const reconcileExecutions = ({
  onExecutionEnd,
  ...deps
}: ReconcileDeps & { onExecutionEnd?: OnExecutionEnd | undefined }): Promise<void> =>
  reconcile(deps, {
    table: 'executions',
    due: inStates(executionStates, UNFINISHED_EXECUTION),
    read: (db) =>
      db
        .selectFrom('executions')
        .innerJoin('taken', 'taken.id', 'executions.id')
        .select([
          'executions.id',
          'workspace_id as workspaceId',
          'prompt_name as promptName',
          'prompt_version as promptVersion',
        ])
        .select((eb) => [
          'model',
          sql<number>`octet_length(coalesce(input, input_messages::text))`.as('inputChars'),
          eb('answered_at', 'is not', null).as('answered'),
          eb.and([eb('accepted_at', 'is', null), inStates(executionStates, ['queued'])]).as('unaccepted'),
        ]),
    reconcile({ answered, ...execution }) {
      const { query } = deps.db.system;
      const { id } = execution;
      return compareWithWorkflow(deps, 'execution', execution, {
        workflowId: executionWorkflowId(id),
        withdraw: () => withdrawUnaccepted(query, id),
        start: () => startExecutionWorkflow(deps.starter, execution),
        end: () =>
          answered
            ? completeExecution(query, id, onExecutionEnd)
            : failExecution(query, id, ENDED_BY_OPERATOR, onExecutionEnd),
      });
    },
  });
