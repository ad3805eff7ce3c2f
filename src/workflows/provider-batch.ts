import { CancellationScope, isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BatchView, ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import { checksAgain, followRow, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ProviderBatchInput {
  /** UUID of the row in `provider_batches`, which says what to do; the history does not. */
  batchId: string;
  /** The span that started it, in W3C Trace Context format; absent without tracing. */
  traceparent?: string;
}

/** The delay until the first poll of the row; quadruples each time up to the maximum, because each stays in the history. */
const FIRST_POLL_MS = 60_000;

const step = <Name extends keyof ProviderBatchActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ProviderBatchActivities>({ ...LOCAL_STEP, summary })[name];

const readBatch = step('readBatch', 'reads the state of the batch');
const cancelBatch = step('cancelBatch', 'asks for the end of the batch: the workflow was canceled');
// It waits by failing: retries add no events, and the last failure describes the state of the batch.
const { advanceBatch } = proxyActivities<Pick<ProviderBatchActivities, 'advanceBatch'>>({
  summary: 'advances the batch: submits it, polls it, stores its results',
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
 * Takes a batch at a provider from preparation to its end. One step can wait for days. If the workflow is canceled from outside,
 * the batch is canceled at the provider and its finished results are stored; if it is terminated, it is started again.
 */
export async function providerBatch({ batchId, traceparent }: ProviderBatchInput): Promise<void> {
  const trace: [] | [string] = traceparent === undefined ? [] : [traceparent];
  await followRow({ read: () => readBatch(batchId), end: () => cancelBatch(batchId) }, async (row) => {
    /** @returns its state in one line; undefined if it is over */
    function seen(batch: BatchView | null): string | undefined {
      if (batch !== null) row.show(batch.details);
      return batch?.isOver === false ? batch.line : undefined;
    }
    for (;;) {
      let line = seen(await row.read());
      if (line === undefined) break;
      const scope = new CancellationScope();
      let isDone = false;
      let isStopped = false;
      const advancing = scope
        .run(() => advanceBatch(batchId, ...trace))
        .catch((error: unknown) => {
          // An attempt that has to wait at that moment fails: unlike without the stop, no other follows.
          if (!isCancellation(error) && !isStopped) throw error;
        })
        .finally(() => {
          isDone = true;
        });
      for (let ms = FIRST_POLL_MS; ; ms = Math.min(4 * ms, POLL_AGAIN_MS)) {
        if (await row.wait(ms, checksAgain(line ?? 'over', ms), () => isDone)) break;
        line = seen(await readBatch(batchId));
      }
      if (!isDone) {
        isStopped = true;
        scope.cancel();
      }
      await advancing;
    }
    // A failed deletion of files blocks nothing: the failed step shows it.
    await cleanUpBatch(batchId, ...trace).catch(() => {});
  });
}
