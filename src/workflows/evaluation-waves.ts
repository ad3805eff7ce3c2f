import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import type { BatchRun } from './evaluation-batches.ts';
import { checksAgain, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

const step = <Name extends keyof ProviderBatchActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ProviderBatchActivities>({ ...LOCAL_STEP, summary, startToCloseTimeout: '1 minute' })[name];

const planBatches = step('planBatches', 'checks the batches at providers, and starts the next one');
/** Signals the batches of a run that has ended. */
export const tellBatches = step('tellBatches', 'notifies its batches that the run has ended');
const { failLeftovers } = proxyActivities<Pick<ProviderBatchActivities, 'failLeftovers'>>({
  summary: 'stores calls without a response as failed',
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * The delay until the first poll of the batches, which signal the run when they are submitted and when they end; later polls are
 * less frequent.
 */
const FIRST_POLL_MS = 60_000;

/**
 * Runs the providers' batches, first for responses and then for judges; the rest is called individually or was stored as
 * failed.
 * @returns false if the row no longer allows the run to continue, or its history is full
 */
export async function runWaves({
  ref,
  trace,
  control,
  row,
}: Pick<BatchRun, 'ref' | 'trace' | 'control' | 'row'>): Promise<boolean> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(POLL_AGAIN_MS, 4 * waitMs)) {
    const { isDone, line, details } = await planBatches({ ...ref, ...trace });
    if (isDone) break;
    row.show(details);
    if (await row.wait(waitMs, checksAgain(line, waitMs))) waitMs = FIRST_POLL_MS;
    // Also without a signal, because sending it may have failed.
    if ((await row.read())?.status !== 'running' || row.isHistoryFull) return false;
  }
  if (control.batch?.then === 'fail') await failLeftovers(ref);
  return true;
}
