import { ApplicationFailure, Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { BatchView, ProviderBatchActivities } from '../../src/activities/provider-batch/batch.ts';
import { controlChanged } from '../../src/workflows/follow-row.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

type Steps = Pick<ProviderBatchActivities, 'readBatch' | 'cancelBatch' | 'advanceBatch' | 'cleanUpBatch'>;

/** A batch as its row would have it. */
interface FakeBatch {
  state: string;
  isOver: boolean;
  /** Attempts to advance it. */
  attempts: number;
  did: string[];
}

export type ProviderBatchPath = Path & { batch: FakeBatch; does: string[] };

const BATCH_ID = '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12';

/** A path by name, with the actions on its batch, and its differences from immediate success. */
export function providerBatchPath(
  name: string,
  does: string[],
  steps: (batch: FakeBatch) => Partial<Steps>,
  meanwhile?: (handle: WorkflowHandle, batch: FakeBatch) => Promise<void>,
): ProviderBatchPath {
  const batch: FakeBatch = { state: 'preparing', isOver: false, attempts: 0, did: [] };
  const given = steps(batch);
  const activities: Steps = {
    readBatch: async (): Promise<BatchView> => ({ isOver: batch.isOver, line: batch.state, details: batch.state }),
    cancelBatch: async () => {
      batch.did.push('cancel');
    },
    cleanUpBatch: async () => {
      batch.did.push('clean up');
    },
    ...given,
    advanceBatch: async (id) => {
      batch.attempts += 1;
      await given.advanceBatch?.(id);
      batch.isOver = true;
      batch.did.push('settled');
    },
  };
  return {
    name,
    does,
    batch,
    workflow: 'providerBatch',
    args: [{ batchId: BATCH_ID }],
    activities: { ...activities },
    ...(meanwhile && { meanwhile: (handle) => meanwhile(handle, batch) }),
  };
}

/** It waits at the provider. */
export const waits = (ms: number) =>
  ApplicationFailure.create({ type: 'waits', message: 'in_progress: 0 of 10', nextRetryDelay: ms });
export const attempted = (batch: FakeBatch) => until('an attempt', async () => batch.attempts > 0);

/** Every path through `providerBatch`. */
export const providerBatchPaths = (): ProviderBatchPath[] => [
  providerBatchPath('settled', ['settled', 'clean up'], (batch) => ({
    advanceBatch: async () => {
      if (batch.attempts < 3) throw waits(10);
    },
  })),
  providerBatchPath(
    'told-while-it-waits',
    ['settled', 'clean up'],
    (batch) => ({
      advanceBatch: async () => {
        if (batch.state !== 'told') throw waits(3_600_000);
      },
    }),
    async (handle, batch) => {
      await attempted(batch);
      batch.state = 'told';
      await handle.signal(controlChanged);
    },
  ),
  providerBatchPath(
    'told-in-the-middle',
    ['settled', 'clean up'],
    (batch) => ({
      advanceBatch: async () => {
        if (batch.state === 'told') return;
        const context = Context.current();
        const heartbeat = setInterval(() => context.heartbeat(), 50);
        await context.cancelled.finally(() => clearInterval(heartbeat));
      },
    }),
    async (handle, batch) => {
      await attempted(batch);
      batch.state = 'told';
      await handle.signal(controlChanged);
    },
  ),
  providerBatchPath(
    'canceled-by-an-operator',
    ['cancel', 'settled', 'clean up'],
    (batch) => ({
      advanceBatch: async () => {
        if (!batch.did.includes('cancel')) throw waits(3_600_000);
      },
    }),
    async (handle, batch) => {
      await attempted(batch);
      await handle.cancel();
    },
  ),
  providerBatchPath('files-that-stay', ['settled'], () => ({
    cleanUpBatch: async () => {
      throw ApplicationFailure.create({ message: 'The provider refuses.', nonRetryable: true });
    },
  })),
  providerBatchPath('gone', ['clean up'], () => ({ readBatch: async () => null })),
];
