import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { evaluationWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import type { evaluationRun } from '../../workflows/evaluation-run.ts';
import { START_DEADLINE_MS, type WorkflowStarter } from '../run-execution.ts';
import type { StoredEvaluation } from './create-evaluation.ts';

/**
 * Starts the workflow of a stored evaluation. Doing it again for the same run and retry changes nothing.
 * @returns false where the workflow was started before
 */
export async function startEvaluationWorkflow(
  { client, taskQueues }: WorkflowStarter,
  evaluation: StoredEvaluation,
): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + START_DEADLINE_MS, () =>
      client.workflow.start<typeof evaluationRun>('evaluationRun', {
        workflowId: evaluationWorkflowId(evaluation.id, evaluation.retries),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        taskQueue: taskQueues.evaluations,
        args: [{ evaluationId: evaluation.id }],
        staticSummary: `${evaluation.promptName} v${evaluation.promptVersion} on ${evaluation.model}`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: SEARCH_ATTRIBUTES.workspace, value: publicId('workspace', evaluation.workspaceId) },
          { key: SEARCH_ATTRIBUTES.prompt, value: evaluation.promptName },
          { key: SEARCH_ATTRIBUTES.model, value: evaluation.model },
          { key: SEARCH_ATTRIBUTES.evaluation, value: publicId('evaluation', evaluation.id) },
        ]),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/**
 * Tells the workflow that the row has changed. It reads the row, so telling it twice or for nothing does no harm.
 * @returns false where there is no such workflow at work
 */
export async function tellEvaluationWorkflow(
  { client }: Pick<WorkflowStarter, 'client'>,
  { id, retries }: Pick<StoredEvaluation, 'id' | 'retries'>,
): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + START_DEADLINE_MS, () =>
      client.workflow.getHandle(evaluationWorkflowId(id, retries)).signal('controlChanged'),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Takes back an evaluation that was stored but whose workflow could not be started, with its idempotency key.
 * One that has begun stays.
 */
export async function withdrawEvaluation(db: WorkspaceDatabase, id: string): Promise<void> {
  await db.query(
    {
      text: `with gone as (delete from evaluations where workspace_id = $1 and id = $2 and status = 'scheduled' returning id)
             delete from idempotency_keys where workspace_id = $1 and resource_id in (select id::text from gone)`,
    },
    [id],
  );
}
