import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ProviderBatchInput {
  /** UUID of the row in `provider_batches`: what is to be done is there, not in the history. */
  batchId: string;
  /** The span that started it, as W3C Trace Context writes it; absent where nothing is traced. */
  traceparent?: string;
}

/** The row, or its run, has changed. The workflow then reads it, so signals may be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** Where the batch is, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

/** The time until the first look at the row; each further one takes four times as long, up to the maximum: each stays in the history. */
const FIRST_LOOK_MS = 60_000;
const MAX_LOOK_MS = 6 * 60 * 60_000;

const step = <Name extends keyof ProviderBatchActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ProviderBatchActivities>({ ...LOCAL_STEP, summary })[name];

const readBatch = step('readBatch', 'reads where the batch is');
const cancelBatch = step('cancelBatch', 'asks for the end of the batch: the workflow was canceled');
// It waits by failing: its retries are no events, and its last failure says where the batch is.
const { advanceBatch } = proxyActivities<Pick<ProviderBatchActivities, 'advanceBatch'>>({
  summary: 'takes the batch on: submits, polls, stores its results',
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const { cleanUpBatch } = proxyActivities<Pick<ProviderBatchActivities, 'cleanUpBatch'>>({
  summary: 'deletes its files at the provider',
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 3, maximumInterval: '1 hour', maximumAttempts: 15 },
});

/**
 * Takes a batch at a provider from its preparation to its end. It may wait for days in one step. Where the workflow is canceled from
 * outside, the batch is canceled at the provider, and what it finished is stored; where it is terminated, it is started again.
 */
export async function providerBatch({ batchId, traceparent }: ProviderBatchInput): Promise<void> {
  const told = { changed: false };
  let shown = 'starting';
  setHandler(controlChanged, () => {
    told.changed = true;
  });
  setHandler(progressQuery, () => shown);
  const canceled = CancellationScope.current().cancelRequested;
  let isCanceled = false;
  canceled.catch(() => {
    isCanceled = told.changed = true;
  });
  await CancellationScope.nonCancellable(() =>
    takeToEnd(
      { batchId, trace: traceparent === undefined ? [] : [traceparent] },
      told,
      () => isCanceled,
      (text) => {
        shown = text;
        setCurrentDetails(text);
      },
    ),
  );
  // Temporal shows a run that was canceled as such.
  if (isCanceled) await canceled;
}

async function takeToEnd(
  { batchId, trace }: { batchId: string; trace: [] | [string] },
  told: { changed: boolean },
  isCanceled: () => boolean,
  show: (text: string) => void,
): Promise<void> {
  /** @returns its state in a line; undefined where it is over */
  async function look(): Promise<string | undefined> {
    const batch = await readBatch(batchId);
    if (batch === null) return undefined;
    show(`${batch.details}\n\nas of ${clockText(Date.now())}`);
    return batch.isOver ? undefined : batch.line;
  }

  for (let isAsked = false; ; ) {
    told.changed = false;
    if (isCanceled() && !isAsked) await cancelBatch(batchId);
    isAsked = isCanceled();
    let line = await look();
    if (line === undefined) break;
    const scope = new CancellationScope();
    let isDone = false;
    let isStopped = false;
    const advancing = scope
      .run(() => advanceBatch(batchId, ...trace))
      .catch((error: unknown) => {
        // An attempt that has to wait just then fails by that: no other follows, as it does without the stop.
        if (!isCancellation(error) && !isStopped) throw error;
      })
      .finally(() => {
        isDone = true;
      });
    for (let ms = FIRST_LOOK_MS; ; ms = Math.min(4 * ms, MAX_LOOK_MS)) {
      const summary = `${line ?? 'over'}; looks again in ${durationText(ms)}`;
      if (await condition(() => told.changed || isDone, ms, { summary })) break;
      line = await look();
    }
    if (!isDone) {
      isStopped = true;
      scope.cancel();
    }
    await advancing;
  }
  // Files that can't be deleted hold nobody up: the failure of the step says so.
  await cleanUpBatch(batchId, ...trace).catch(() => {});
}
