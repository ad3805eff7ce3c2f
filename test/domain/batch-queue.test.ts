import { expect, test } from '@jest/globals';
import { type BatchProgress, BatchQueue, type BatchTicket, NO_PROGRESS } from '../../src/domain/batch-queue.ts';

/** Batches of 10 examples, 5 at a time in each lane. */
function queueOf(batches: number, lanes: number, progress: BatchProgress, probes = false): BatchQueue {
  return new BatchQueue({ batches, lanes: Array.from({ length: lanes }, () => 5), batchSize: 10 }, progress, {
    probes,
  });
}

function taken(queue: BatchQueue, maxCostUsd: number | null, all = false): BatchTicket {
  const ticket = queue.take(maxCostUsd, { all });
  if (ticket === undefined) throw new Error('There was no batch.');
  return ticket;
}

test('hands out each batch once, then nothing', () => {
  const queue = queueOf(3, 2, NO_PROGRESS);
  expect([1, 2, 3].map(() => taken(queue, null).batch)).toEqual([0, 1, 2]);
  expect(queue.empty).toBe(true);
  expect(queue.take(null)).toBeUndefined();
});

test('an unfinished batch comes back first', () => {
  const queue = queueOf(3, 1, NO_PROGRESS);
  queue.giveBack(taken(queue, null), { finished: false, costUsd: 0.5 });
  expect(taken(queue, null)).toMatchObject({ batch: 0, spentUsd: 0.5 });
});

test('grants and costs never exceed the cap', () => {
  const queue = queueOf(4, 2, NO_PROGRESS);
  const first = taken(queue, 1);
  const second = taken(queue, 1);
  expect((first.spendUpToUsd ?? 0) + (second.spendUpToUsd ?? 0)).toBeCloseTo(1);
  expect(queue.take(1)).toBeUndefined();
  queue.giveBack(first, { finished: true, costUsd: 0.1 });
  expect(taken(queue, 1).spendUpToUsd).toBeCloseTo(0.4);
});

test('earlier costs of batches not yet begun count', () => {
  const queue = queueOf(2, 1, { ...NO_PROGRESS, spentByBatchUsd: { 0: 0.45, 1: 0.45 } });
  expect(taken(queue, 1).spendUpToUsd).toBeCloseTo(0.55);
});

test('nothing is handed out after the cap is spent, until it is raised or removed', () => {
  const queue = queueOf(2, 1, NO_PROGRESS);
  queue.giveBack(taken(queue, 1), { finished: false, costUsd: 1 });
  expect(queue.take(1)).toBeUndefined();
  expect(taken(queue, 1.5)).toMatchObject({ batch: 0, spentUsd: 1, spendUpToUsd: 1.5 });
  expect(taken(queue, null)).toMatchObject({ batch: 1, spendUpToUsd: null });
});

test('a batch has all of the money only while no other can return some', () => {
  const queue = queueOf(4, 2, NO_PROGRESS);
  const first = taken(queue, 1);
  expect(taken(queue, 1)).toMatchObject({ all: false });
  expect(taken(queueOf(4, 2, NO_PROGRESS), 1, true)).toMatchObject({ all: true, spendUpToUsd: 1 });
  expect(first.all).toBe(false);
});

test('another queue continues where this one stopped', () => {
  const queue = queueOf(3, 1, NO_PROGRESS);
  queue.giveBack(taken(queue, null), { finished: true, costUsd: 0.2 });
  queue.giveBack(taken(queue, null), { finished: false, costUsd: 0.1 });
  const next = queueOf(3, 1, JSON.parse(JSON.stringify(queue.progress)));
  expect(taken(next, 1)).toMatchObject({ batch: 1, spentUsd: 0.1, spendUpToUsd: expect.closeTo(0.8) });
  expect(taken(next, null).batch).toBe(2);
  expect(next.empty).toBe(true);
});

test('leaves the given progress unchanged', () => {
  const queue = queueOf(2, 1, NO_PROGRESS);
  queue.giveBack(taken(queue, null), { finished: false, costUsd: 1 });
  expect(NO_PROGRESS).toEqual({ next: 0, unfinished: [], spentUsd: 0, spentByBatchUsd: {} });
});

test('no batch gets more than its expected cost', () => {
  const estimate = { meanUsd: 0.1, deviationUsd: 0, examples: 40 };
  const queue = queueOf(4, 2, { ...NO_PROGRESS, estimate });
  expect(taken(queue, 100)).toMatchObject({ spendUpToUsd: 1, all: false });
});

test('little money is not spread over many batches', () => {
  const estimate = { meanUsd: 0.1, deviationUsd: 0, examples: 40 };
  const queue = queueOf(8, 8, { ...NO_PROGRESS, estimate });
  const first = taken(queue, 0.9);
  expect(first).toMatchObject({ spendUpToUsd: 0.9, all: true });
  expect(queue.take(0.9)).toBeUndefined();
  queue.giveBack(first, { finished: true, costUsd: 0.5, estimate: { ...estimate, meanUsd: 0.05 } });
  expect(taken(queue, 0.9)).toMatchObject({ spendUpToUsd: expect.closeTo(0.4), all: true });
});

test('within a budget one batch begins alone, with all of the money, until a cost is known', () => {
  const queue = queueOf(4, 2, NO_PROGRESS, true);
  const probe = taken(queue, 100);
  expect(probe).toMatchObject({ batch: 0, spendUpToUsd: 100, all: true, probe: true });
  expect(queue.take(100)).toBeUndefined();
  queue.giveBack(probe, { finished: false, costUsd: 0.1, estimate: { meanUsd: 0.1, deviationUsd: 0, examples: 1 } });
  expect([taken(queue, 100), taken(queue, 100)]).toMatchObject([
    { batch: 0, probe: false },
    { batch: 1, probe: false },
  ]);
});

test.each([
  ['without a budget', queueOf(4, 2, NO_PROGRESS, true), null],
  [
    'where the cost is known',
    queueOf(4, 2, { ...NO_PROGRESS, estimate: { meanUsd: 1, deviationUsd: 0, examples: 9 } }, true),
    100,
  ],
])('%s no batch begins alone', (_, queue, maxCostUsd) => {
  expect([taken(queue, maxCostUsd), taken(queue, maxCostUsd)]).toMatchObject([{ probe: false }, { probe: false }]);
});
