import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { BatchBudget } from '../../../src/activities/scoring/batch-budget.ts';
import { type PoolOptions, runPool } from '../../../src/activities/scoring/example-pool.ts';
import { guessCost } from '../../../src/domain/evaluations/cost-estimate.ts';
import type { OpenExample } from '../../../src/services/evaluations/run/open-examples.ts';
import { until } from '../../support/wait-for.ts';

const TOTAL = 120;
const budgetOf = (limitUsd: number | null, guessUsd: number) =>
  new BatchBudget({ limitUsd, spentUsd: 0, estimate: guessCost(guessUsd), isAllThereIs: false });
const cost = (knownCostUsd: number) => ({ knownCostUsd, unknownShare: 0 });
const exampleAt = (seq: number): OpenExample => ({
  seq,
  key: `${seq}`,
  variables: {},
  expected: undefined,
  metadata: null,
  output: null,
  toolCalls: [],
  modelMs: null,
  costUsd: null,
  bytes: 10,
});

/** A pool of 120 examples; `begun` lists those that were started, in order. */
function pool(options: Partial<PoolOptions<OpenExample>>) {
  const begun: number[] = [];
  let stopped = false;
  const { runExample = async () => undefined, ...rest } = options;
  const result = runPool({
    from: 0,
    concurrency: 4,
    beginApartMs: 0,
    budget: budgetOf(null, 0),
    loadPage: async (from, limit) =>
      Array.from({ length: Math.max(0, Math.min(limit, TOTAL - from)) }, (_, at) => exampleAt(from + at)),
    stopped: () => stopped,
    stop: () => {
      stopped = true;
    },
    ...rest,
    runExample: (example, reservedUsd) => {
      begun.push(example.seq);
      return runExample(example, reservedUsd);
    },
  });
  return { begun, result };
}

test('hands out every example once, in order, across pages', async () => {
  const { begun, result } = pool({});
  expect(await result).toEqual({ finished: true, starved: false });
  expect(begun).toEqual(Array.from({ length: TOTAL }, (_, seq) => seq));
});

test('keeps as many in flight as allowed, not more', async () => {
  let inFlight = 0;
  let most = 0;
  await pool({
    concurrency: 7,
    runExample: async () => {
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight -= 1;
      return undefined;
    },
  }).result;
  expect(most).toBe(7);
});

test('the first examples begin one after the other, and no others', async () => {
  let asked = 0;
  const startedAt: number[] = [];
  const open = Promise.withResolvers<void>();
  const poolStartedAt = performance.now();
  const { begun, result } = pool({
    concurrency: 1_000,
    beginApartMs: 20,
    stopped: () => {
      asked += 1;
      return false;
    },
    loadPage: async (from) => [0, 1, 2].slice(from).map(exampleAt),
    runExample: async ({ seq }) => {
      startedAt.push(performance.now());
      if (seq === 2) open.resolve();
      await open.promise;
      return undefined;
    },
  });
  expect(await result).toEqual({ finished: true, starved: false });
  expect(begun).toEqual([0, 1, 2]);
  // The first of two consecutive ones may be late. Timers may fire a millisecond early by this clock.
  for (const [at, time] of startedAt.entries()) expect(time - poolStartedAt).toBeGreaterThanOrEqual(at * 19);
  // Each of a thousand workers would otherwise have polled.
  expect(asked).toBeLessThan(100);
});

test('is not finished if an example was given up, even with none left', async () => {
  let stopped = false;
  const { result } = pool({
    concurrency: TOTAL,
    stopped: () => stopped,
    stop: () => {
      stopped = true;
    },
    runExample: async ({ seq }) => {
      if (seq < TOTAL - 1) return undefined;
      stopped = true;
      throw new Error('told to stop');
    },
  });
  expect(await result).toEqual({ finished: false, starved: false });
});

test('the next page is ready before it is needed', async () => {
  let begun = 0;
  const atLoad: number[] = [];
  await pool({
    loadPage: async (from, limit) => {
      atLoad.push(begun);
      return Array.from({ length: Math.max(0, Math.min(limit, TOTAL - from)) }, (_, at) => exampleAt(from + at));
    },
    runExample: async () => {
      begun += 1;
      await new Promise(setImmediate);
      return undefined;
    },
  }).result;
  // Pages of 50: the second is requested when 25 of the first are left.
  expect(atLoad.slice(0, 2)).toEqual([0, 25]);
});

test('a page that could not be preloaded is loaded when it is needed', async () => {
  let isAway = true;
  const { begun, result } = pool({
    loadPage: async (from, limit) => {
      if (from > 0 && isAway) throw new Error('no page');
      return Array.from({ length: Math.max(0, Math.min(limit, TOTAL - from)) }, (_, at) => exampleAt(from + at));
    },
    runExample: async ({ seq }) => {
      if (seq === 40) isAway = false;
      await new Promise(setImmediate);
      return undefined;
    },
  });
  expect(await result).toEqual({ finished: true, starved: false });
  expect(begun).toEqual(Array.from({ length: TOTAL }, (_, seq) => seq));
});

test('begins nothing after a stop, and waits for calls in flight', async () => {
  let ended = 0;
  let stopped = false;
  const { begun, result } = pool({
    stopped: () => stopped,
    runExample: async () => {
      if (begun.length === 10) stopped = true;
      await new Promise(setImmediate);
      ended += 1;
      return undefined;
    },
  });
  expect(await result).toEqual({ finished: false, starved: false });
  expect(ended).toBe(begun.length);
  expect(begun.length).toBeLessThan(15);
});

test('the first error is thrown once those in flight have ended', async () => {
  let ended = 0;
  const { begun, result } = pool({
    runExample: async ({ seq }) => {
      if (seq === 5) throw new Error('example 5');
      await new Promise(setImmediate);
      ended += 1;
      return undefined;
    },
  });
  await expect(result).rejects.toThrow('example 5');
  expect(ended).toBe(begun.length - 1);
  expect(begun.length).toBeLessThan(12);
});

test('a page that cannot be loaded leaves no call behind', async () => {
  let inFlight = 0;
  const { result } = pool({
    loadPage: async (from) => {
      if (from > 0) throw new Error('no page');
      return [exampleAt(0), exampleAt(1)];
    },
    runExample: async () => {
      inFlight += 1;
      await new Promise(setImmediate);
      inFlight -= 1;
      return undefined;
    },
  });
  await expect(result).rejects.toThrow('no page');
  expect(inFlight).toBe(0);
});

test('exceeds its budget by no more than the extra cost of calls in flight', async () => {
  let spent = 0;
  const { begun, result } = pool({
    budget: budgetOf(1, 0.01),
    runExample: async () => {
      await new Promise(setImmediate);
      spent += 0.05;
      return cost(0.05);
    },
  });
  expect(await result).toEqual({ finished: false, starved: false });
  expect(spent).toBeLessThanOrEqual(1 + 4 * (0.05 - 0.01) + 1e-9);
  expect(spent).toBeGreaterThan(0.9);
  expect(begun.length).toBeLessThan(TOTAL);
});

test('waits for money that calls in flight may return', async () => {
  const { result } = pool({
    budget: budgetOf(1, 0.9),
    runExample: async () => {
      await new Promise(setImmediate);
      return cost(0.0001);
    },
  });
  expect(await result).toEqual({ finished: true, starved: false });
});

test('reports when the money is not enough for one example', async () => {
  const { begun, result } = pool({ budget: budgetOf(0.5, 0.6) });
  expect(await result).toEqual({ finished: false, starved: true });
  expect(begun).toEqual([]);
});

test('an example returned while a page is loaded is not lost', async () => {
  const page = Promise.withResolvers<OpenExample[]>();
  let reserved = 0;
  const estimate = { meanUsd: 0.1, deviationUsd: 0, examples: 40 };
  const budget = new BatchBudget({ limitUsd: 0.25, spentUsd: 0, estimate, isAllThereIs: false });
  const { result } = pool({
    concurrency: 3,
    budget,
    loadPage: async (from) => (from === 0 ? [exampleAt(0), exampleAt(1), exampleAt(2)] : page.promise),
    runExample: async ({ seq }) => {
      reserved += 1;
      // The first ends and requests the next page; only then does the money run out.
      if (seq === 1) await new Promise(setImmediate);
      if (seq === 1) setImmediate(() => page.resolve([]));
      return cost(0.15);
    },
  });
  expect(await result).toEqual({ finished: false, starved: false });
  expect(reserved).toBe(2);
});

test('keeps few large examples', async () => {
  let atHand = 0;
  let most = 0;
  await pool({
    loadPage: async (from) => {
      if (from >= TOTAL) return [];
      atHand += 1;
      most = Math.max(most, atHand);
      return [{ ...exampleAt(from), bytes: 1024 * 1024 }];
    },
    runExample: async () => {
      await new Promise(setImmediate);
      atHand -= 1;
      return undefined;
    },
  }).result;
  // Four in flight, and the next one.
  expect(most).toBe(5);
});

test('waiting for the next example does not hold the previous one', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const ended: WeakRef<OpenExample>[] = [];
  const rest = Promise.withResolvers<OpenExample[]>();
  const { result } = pool({
    loadPage: (from) => (from === 0 ? Promise.resolve([exampleAt(0), exampleAt(1)]) : rest.promise),
    async runExample(example) {
      ended.push(new WeakRef(example));
      return undefined;
    },
  });
  await until('two examples have ended and nothing holds them', async () => {
    // A reference that was accessed is kept until the next round of the event loop.
    await delay(1);
    collectGarbage();
    return ended.length === 2 && ended.every((example) => example.deref() === undefined);
  });
  rest.resolve([]);
  expect(await result).toEqual({ finished: true, starved: false });
});
