import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { BatchWave } from '../../domain/batches/batch-mode.ts';
import { publicId } from '../../domain/ids.ts';
import { batchWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { signalWorkflow, startWorkflowUnlessRunning, type WorkflowStarter } from '../../temporal/workflows.ts';

/** The type of the workflow `providerBatch`, which uses what uses this. */
type ProviderBatch = (input: { batchId: string }) => Promise<void>;

/** What a workflow is started for. */
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
 * Starts the workflow of a stored batch, also again where it was ended from outside: what the provider has must not be left alone.
 * @returns false where it is at work
 */
export function startBatchWorkflow(starter: WorkflowStarter, batch: StoredBatch): Promise<boolean> {
  const workspace = publicId('workspace', batch.workspaceId);
  const evaluation = publicId('evaluation', batch.evaluationId);
  const what = summaryOf(batch);
  return startWorkflowUnlessRunning<ProviderBatch>({ ...starter, eager: false }, 'providerBatch', {
    priority: { fairnessKey: workspace },
    workflowId: batchWorkflowId(batch.id),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ batchId: batch.id }],
    staticSummary: what,
    memo: { batch: publicId('providerBatch', batch.id), evaluation, workspace, model: batch.model },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: batch.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: batch.model },
      { key: SEARCH_ATTRIBUTES.evaluation, value: evaluation },
    ]),
  });
}

/**
 * Tells the workflow that the row, or its run, has changed. It reads the row, so telling it twice or for nothing does no harm.
 * @returns false where there is no such workflow at work
 */
export function tellBatchWorkflow({ client }: { client: Client }, batchId: string): Promise<boolean> {
  return signalWorkflow(client, batchWorkflowId(batchId), 'controlChanged');
}
