import type { BatchWave } from '../../domain/batches/batch-mode.ts';
import { publicId } from '../../domain/ids.ts';
import { batchWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter, type WorkflowToStart } from '../../temporal/workflows.ts';

/** The type of the workflow `providerBatch`, whose module depends on this one. */
type ProviderBatch = (input: { batchId: string }) => Promise<void>;

/** The batch that a workflow is started for. */
export interface StoredBatch {
  id: string;
  workspaceId: string;
  evaluationId: string;
  promptName: string;
  number: number;
  wave: BatchWave;
  evaluator: string | null;
  model: string;
}

/** `batch 2 of eval_…: responses of openai/gpt-4o-mini` */
function summaryOf({ number, evaluationId, wave, evaluator, model }: StoredBatch): string {
  const what = wave === 'responses' ? 'responses' : `judgements "${evaluator}"`;
  return `batch ${number} of ${publicId('evaluation', evaluationId)}: ${what} of ${model}`;
}

/**
 * Starts the workflow of a stored batch, also again if it was terminated from outside: a batch at the provider must not be left unattended.
 * @returns false if it is running
 */
export function startBatchWorkflow(starter: WorkflowStarter, batch: StoredBatch): Promise<boolean> {
  const { id, workspaceId, promptName: prompt, model } = batch;
  const evaluation = publicId('evaluation', batch.evaluationId);
  const workspace = publicId('workspace', workspaceId);
  const workflow: WorkflowToStart<Parameters<ProviderBatch>> = {
    type: 'providerBatch',
    id: batchWorkflowId(id),
    queue: 'evaluations',
    workspaceId,
    args: [{ batchId: id }],
    summary: summaryOf(batch),
    memo: { batch: publicId('providerBatch', id), evaluation, workspace, model },
    attributes: { prompt, model, evaluation },
  };
  return startWorkflow(starter, workflow, { restarts: true });
}
