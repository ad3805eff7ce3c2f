import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { cachedReading } from '../../../src/services/operations/cached-reading.ts';
import { waitFor } from '../../support/wait-for.ts';

test('simultaneous gauges and scrapes share one reading, and so do those soon after it', async () => {
  let reads = 0;
  const reading = cachedReading(async () => ++reads, { unknown: Number.NaN });
  expect(await Promise.all([reading(), reading(), reading()])).toEqual([1, 1, 1]);
  expect(await reading()).toBe(1);
  expect(reads).toBe(1);
});

test('an old one is read again', async () => {
  let reads = 0;
  const reading = cachedReading(async () => ++reads, { unknown: Number.NaN, retentionMs: 1 });
  await reading();
  await waitFor('another reading', async () => (await reading()) > 1);
});

test('a failed reading is unknown, and not retried at once', async () => {
  let reads = 0;
  const failing = async (): Promise<number> => {
    reads += 1;
    throw new Error('away');
  };
  const reading = cachedReading(failing, { unknown: Number.NaN });
  expect(await reading()).toBeNaN();
  expect(await reading()).toBeNaN();
  expect(reads).toBe(1);
});

test('a slow reading is kept no longer than allowed', async () => {
  let reads = 0;
  const failing = async (): Promise<number> => {
    reads += 1;
    await delay(200);
    throw new Error('away');
  };
  const reading = cachedReading(failing, { unknown: Number.NaN, retentionMs: 1, keptAtMostMs: 20 });
  const begunAt = performance.now();
  await waitFor('another reading', async () => {
    await reading();
    return reads === 2;
  });
  // Without a limit the first would be cached for 2 s.
  expect(performance.now() - begunAt).toBeLessThan(2_000);
});

test('a reading that takes too long is unknown; it never overlaps, and is rare afterwards', async () => {
  let reads = 0;
  const slow = Promise.withResolvers<number>();
  const reading = cachedReading(
    () => {
      reads += 1;
      return slow.promise;
    },
    { unknown: Number.NaN, retentionMs: 1, timeoutMs: 50 },
  );
  expect(await reading()).toBeNaN();
  expect(await reading()).toBeNaN();
  expect(reads).toBe(1);
  slow.resolve(7);
  await waitFor('the reading', async () => (await reading()) === 7);
  // It took at least 100 ms, and is cached for ten times as long.
  expect(await reading()).toBe(7);
  expect(reads).toBe(1);
});
