import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import type { BatchRun } from './evaluation-batches.ts';
import { looksAgain, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

const step = <Name extends keyof ProviderBatchActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ProviderBatchActivities>({ ...LOCAL_STEP, summary, startToCloseTimeout: '1 minute' })[name];

const planBatches = step('planBatches', 'looks at the batches at providers, and begins the next one');
/** Tells the batches of a run that has ended. */
export const tellBatches = step('tellBatches', 'tells its batches that the run has ended');
const { failLeftovers } = proxyActivities<Pick<ProviderBatchActivities, 'failLeftovers'>>({
  summary: 'stores what no batch has responded to as failed',
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** The time until the first look at the batches, which tell the run when they were submitted and have ended; then longer ones. */
const FIRST_POLL_MS = 60_000;

/**
 * Lets the providers' batches respond, and then their judges: what is left is called one by one, or was stored as failed.
 * @returns false where the row no longer says that the run is to go on, or its history is full
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
    if (await row.wait(waitMs, looksAgain(line, waitMs))) waitMs = FIRST_POLL_MS;
    // Also without a signal: whoever changed the row may have been unable to send one.
    if ((await row.read())?.status !== 'running' || row.isHistoryFull) return false;
  }
  if (control.batch?.then === 'fail') await failLeftovers(ref);
  return true;
}
