import { condition, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { EvaluationControl } from '../activities/evaluation-run/evaluation.ts';
import type { ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import { durationText } from '../domain/text/duration-text.ts';
import type { RunDetails } from './evaluation-details.ts';
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
const FIRST_LOOK_MS = 60_000;
const MAX_LOOK_MS = 6 * 60 * 60_000;

/** See {@link BatchRun}, whose fields these are. */
export interface WavesRun {
  ref: { evaluationId: string; round: number };
  trace: { traceparent?: string };
  control: EvaluationControl;
  details: RunDetails;
  readAgain: () => Promise<EvaluationControl | null>;
  isChanged: () => boolean;
  isHistoryFull: () => boolean;
}

/**
 * Lets the providers' batches respond, and then their judges: what is left is called one by one, or was stored as failed.
 * @returns false where the row no longer says that the run is to go on, or its history is full
 */
export async function runWaves({
  ref,
  trace,
  control,
  details,
  readAgain,
  isChanged,
  isHistoryFull,
}: WavesRun): Promise<boolean> {
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(MAX_LOOK_MS, 4 * waitMs)) {
    const { isDone, line, details: text } = await planBatches({ ...ref, ...trace });
    if (isDone) break;
    details.showText(text);
    const summary = `${line}; looks again in ${durationText(waitMs)}`;
    if (await condition(isChanged, waitMs, { summary })) waitMs = FIRST_LOOK_MS;
    // Also without a signal: whoever changed the row may have been unable to send one.
    if ((await readAgain())?.status !== 'running' || isHistoryFull()) return false;
  }
  if (control.batch?.then === 'fail') await failLeftovers(ref);
  return true;
}
