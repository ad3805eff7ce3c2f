import { TypedSearchAttributes } from '@temporalio/common';
import { publicId } from '../../domain/ids.ts';
import { evaluationWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { signalWorkflow, startWorkflowOnce, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { evaluationRun } from '../../workflows/evaluation-run.ts';
import type { StoredEvaluation } from './create-evaluation.ts';

/**
 * Starts the workflow of a stored evaluation. Doing it again for the same run and retry changes nothing.
 * @returns false where the workflow was started before
 */
export function startEvaluationWorkflow(starter: WorkflowStarter, evaluation: StoredEvaluation): Promise<boolean> {
  const workspace = publicId('workspace', evaluation.workspaceId);
  return startWorkflowOnce<typeof evaluationRun>({ ...starter, eager: false }, 'evaluationRun', {
    // Activities inherit it: servers that know fairness dispatch tasks in turns round the workspaces.
    priority: { fairnessKey: workspace },
    workflowId: evaluationWorkflowId(evaluation.id, evaluation.retries),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ evaluationId: evaluation.id, round: evaluation.retries, workspace }],
    staticSummary: `${evaluation.promptName} v${evaluation.promptVersion} on ${evaluation.model}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: evaluation.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: evaluation.model },
      { key: SEARCH_ATTRIBUTES.evaluation, value: publicId('evaluation', evaluation.id) },
    ]),
  });
}

/**
 * Tells the workflow that the row has changed. It reads the row, so telling it twice or for nothing does no harm.
 * @returns false where there is no such workflow at work
 */
export function tellEvaluationWorkflow(
  { client }: Pick<WorkflowStarter, 'client'>,
  { id, retries }: Pick<StoredEvaluation, 'id' | 'retries'>,
): Promise<boolean> {
  return signalWorkflow(client, evaluationWorkflowId(id, retries), 'controlChanged');
}
