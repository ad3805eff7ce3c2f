import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { historyFromJson, openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import { evaluationRunPath } from '../support/histories-evaluation-run.ts';
import { attempted, providerBatchPath, providerBatchPaths, waits } from '../support/histories-provider-batch.ts';
import { connectToTemporal } from '../support/temporal.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Maximum number of events in the history of a batch that takes a day. */
const MOST_EVENTS = 200;

let temporal: TestWorkflowEnvironment;
let environment: PathEnvironment;
beforeAll(async () => {
  temporal = await startTimeSkipping();
  environment = await openPaths(temporal.client, temporal.nativeConnection);
});
afterAll(async () => {
  await environment?.close();
  await temporal?.teardown();
});

test.each(providerBatchPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  const { result } = await takePath(environment, path);
  expect(path.batch.did).toEqual(path.does);
  expect(result ?? 'done').toBe(path.name === 'canceled-by-an-operator' ? 'canceled' : 'done');
});

// The server that skips time would repeat the attempt.
test('an attempt that waits when the workflow is canceled does not fail it', async () => {
  const { client, connection } = await connectToTemporal();
  const real = await openPaths(client, connection);
  try {
    const path = providerBatchPath(
      `canceled-in-the-middle-${Date.now()}`,
      [],
      (batch) => ({
        advanceBatch: async () => {
          if (batch.did.includes('cancel')) return;
          const context = Context.current();
          const heartbeat = setInterval(() => context.heartbeat(), 50);
          await context.cancelled.catch(() => {});
          clearInterval(heartbeat);
          throw waits(3_600_000);
        },
      }),
      async (handle, batch) => {
        await attempted(batch);
        await handle.cancel();
      },
    );
    expect((await takePath(real, path)).result).toBe('canceled');
    expect(path.batch.did).toEqual(['cancel', 'settled', 'clean up']);
  } finally {
    await real.close();
    await connection.close();
  }
});

test('a batch that takes a day leaves few events, however often it is polled', async () => {
  const begun = await temporal.currentTimeMs();
  const path = providerBatchPath('a-day', ['settled', 'clean up'], (batch) => ({
    advanceBatch: async () => {
      if ((await temporal.currentTimeMs()) - begun < DAY_MS) throw waits(batch.attempts < 5 ? 1_000 : 10 * MINUTE_MS);
    },
  }));
  const { history } = await takePath(environment, path);
  expect(path.batch.attempts).toBeGreaterThan(100);
  expect(historyFromJson(history).events?.length).toBeLessThan(MOST_EVENTS);
});

test('a run that waits a day for its batches leaves few events', async () => {
  const begun = await temporal.currentTimeMs();
  const path = evaluationRunPath('a-day-of-batches', [], {
    control: { batch: { max_wait: 86_400, then: 'interactive' } },
    steps: (run) => ({
      planBatches: async () => {
        const isDone = (await temporal.currentTimeMs()) - begun >= DAY_MS;
        return { isDone, line: '1 of 1 batches', details: `batch 1 of ${run.worked.length}` };
      },
      tellBatches: async () => {},
    }),
  });
  const { history } = await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running', 'finish']);
  expect(historyFromJson(history).events?.length).toBeLessThan(MOST_EVENTS);
});
