import { TypedSearchAttributes } from '@temporalio/common';
import { promptOf } from '../../../domain/evaluations/code-run.ts';
import { publicId } from '../../../domain/ids.ts';
import { evaluationWorkflowId, SEARCH_ATTRIBUTES } from '../../../temporal/names.ts';
import { signalWorkflow, startWorkflowOnce, type WorkflowStarter } from '../../../temporal/workflows.ts';
import type { evaluationRun } from '../../../workflows/evaluation-run.ts';
import type { StoredEvaluation } from '../creation/create-evaluation.ts';

/**
 * Starts the workflow of a stored evaluation. Doing it again for the same run and retry changes nothing.
 * @returns false where the workflow was started before
 */
export function startEvaluationWorkflow(starter: WorkflowStarter, evaluation: StoredEvaluation): Promise<boolean> {
  const workspace = publicId('workspace', evaluation.workspaceId);
  const what = summaryOf(evaluation);
  return startWorkflowOnce<typeof evaluationRun>({ ...starter, eager: false }, 'evaluationRun', {
    // Activities inherit it: servers that know fairness dispatch tasks in turns round the workspaces.
    priority: { fairnessKey: workspace },
    workflowId: evaluationWorkflowId(evaluation.id, evaluation.retries),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ evaluationId: evaluation.id, round: evaluation.retries, workspace, what }],
    staticSummary: what,
    // A run that continues as new keeps the memo, but no summary.
    memo: memoOf(evaluation),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: evaluation.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: evaluation.model },
      { key: SEARCH_ATTRIBUTES.evaluation, value: publicId('evaluation', evaluation.id) },
    ]),
  });
}

const examplesOf = ({ examplesTotal: count }: StoredEvaluation) =>
  `${count.toLocaleString('en-US')} example${count === 1 ? '' : 's'}`;
const datasetOf = ({ datasetName, datasetVersion }: StoredEvaluation) =>
  datasetName === null ? undefined : `${datasetName} v${datasetVersion}`;

/** `support/greeting v3 on openai/gpt-4o-mini: 1,000 examples of tickets v2` */
function summaryOf(evaluation: StoredEvaluation): string {
  const dataset = datasetOf(evaluation);
  const retry = evaluation.retries === 0 ? '' : `, retry ${evaluation.retries}`;
  const { model } = evaluation;
  const examples = `${examplesOf(evaluation)}${dataset === undefined ? '' : ` of ${dataset}`}`;
  return `${promptOf(evaluation)} on ${model}: ${examples}${retry}`;
}

/** What the summary says, by name, and the public ids. */
function memoOf(evaluation: StoredEvaluation): Record<string, string | number> {
  const { id, workspaceId, model, examplesTotal: examples, retries } = evaluation;
  const dataset = datasetOf(evaluation);
  return {
    evaluation: publicId('evaluation', id),
    workspace: publicId('workspace', workspaceId),
    prompt: promptOf(evaluation),
    model,
    examples,
    ...(dataset !== undefined && { dataset }),
    ...(retries > 0 && { retry: retries }),
  };
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
