import { promptOf } from '../../../domain/evaluations/code-run.ts';
import { publicId } from '../../../domain/ids.ts';
import { evaluationWorkflowId } from '../../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter, type WorkflowToStart } from '../../../temporal/workflows.ts';
import type { evaluationRun } from '../../../workflows/evaluation-run.ts';
import type { StoredEvaluation } from '../creation/create-evaluation.ts';

/** The workflow of a stored evaluation. */
export function evaluationWorkflow(evaluation: StoredEvaluation): WorkflowToStart<Parameters<typeof evaluationRun>> {
  const { id, retries, workspaceId, promptName, model } = evaluation;
  const workspace = publicId('workspace', workspaceId);
  const summary = summaryOf(evaluation);
  return {
    type: 'evaluationRun',
    id: evaluationWorkflowId(id, retries),
    queue: 'evaluations',
    workspaceId,
    args: [{ evaluationId: id, round: retries, workspace, what: summary }],
    summary,
    memo: memoOf(evaluation),
    attributes: { prompt: promptName, model, evaluation: publicId('evaluation', id) },
  };
}

/**
 * Starts the workflow of a stored evaluation. Repeating it for the same run and retry has no effect.
 * @returns false if the workflow was already started
 */
export const startEvaluationWorkflow = (starter: WorkflowStarter, evaluation: StoredEvaluation): Promise<boolean> =>
  startWorkflow<typeof evaluationRun>(starter, evaluationWorkflow(evaluation));

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

/** The facts of the summary, by name, and the public ids. */
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
