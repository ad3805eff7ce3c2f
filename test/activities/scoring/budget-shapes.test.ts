import { expect, test } from '@jest/globals';
import { BatchBudget, firstEstimate } from '../../../src/activities/scoring/batch-budget.ts';
import { runPool } from '../../../src/activities/scoring/example-pool.ts';
import { BatchQueue, NO_PROGRESS } from '../../../src/domain/batch-queue.ts';
import { batchRange, planEvaluation } from '../../../src/domain/evaluations/evaluation-plan.ts';

// Whole runs under a cap, without database or Temporal: the real queue, budgets and pools, with lanes that act like the
// workflow's.

/** Reproducible numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

interface Simulation {
  examples: number;
  concurrency: number;
  maxCostUsd: number;
  /** The expected cost from only the price. */
  guessUsd: number;
  costOf: (seq: number) => number;
  /** Whether the provider reports the cost of an example. */
  isKnown?: (seq: number) => boolean;
}

interface Outcome {
  isDone: boolean;
  /** As the budget counts it. */
  countedUsd: number;
  calls: number;
  /** The maximum cost of the calls in flight above the amount reserved for them. */
  inFlightUsd: number;
  activities: number;
  costs: number[];
}

async function simulate(run: Simulation, random: () => number): Promise<Outcome> {
  const plan = planEvaluation(run.examples, run.concurrency);
  const queue = new BatchQueue(plan, NO_PROGRESS, { probes: true });
  const counted = new Map<number, number>();
  const inFlight = new Map<number, number>();
  const outcome: Outcome = { isDone: false, countedUsd: 0, calls: 0, inFlightUsd: 0, activities: 0, costs: [] };
  let isOver = false;
  let waiting: (() => void)[] = [];
  const settled = () => new Promise<void>((resolve) => waiting.push(resolve));
  const move = () => {
    for (const wake of waiting.splice(0)) wake();
  };

  const costOfBatch = (from: number, to: number) => {
    const paid = [...counted].filter(([seq, usd]) => seq >= from && seq < to && usd > 0);
    return { costUsd: paid.reduce((sum, [, usd]) => sum + usd, 0), examples: paid.length };
  };

  async function lane(concurrency: number): Promise<void> {
    let starved = false;
    while (!isOver && !queue.empty) {
      const ticket = queue.take(run.maxCostUsd, { all: starved });
      if (ticket === undefined && queue.active === 0) return;
      if (ticket === undefined) {
        await settled();
        continue;
      }
      outcome.activities += 1;
      const { from, to } = batchRange(plan, ticket.batch, run.examples);
      const before = costOfBatch(from, to);
      const budget = new BatchBudget({
        limitUsd: ticket.spendUpToUsd,
        spentUsd: before.costUsd,
        estimate: firstEstimate(queue.progress.estimate, before, run.guessUsd),
        isAllThereIs: ticket.all,
      });
      const result = await runPool({
        from,
        concurrency,
        beginApartMs: 0,
        budget,
        stopped: () => isOver || (ticket.probe && budget.window >= concurrency),
        stop: () => {
          isOver = true;
        },
        loadPage: async (seq, limit) =>
          Array.from({ length: to - from }, (_, at) => from + at)
            .filter((each) => each >= seq && !counted.has(each))
            .slice(0, limit)
            .map((each) => ({
              seq: each,
              variables: {},
              expected: undefined,
              metadata: null,
              output: null,
              bytes: 10,
            })),
        runExample: async ({ seq }, reservedUsd) => {
          outcome.calls += 1;
          inFlight.set(seq, run.costOf(seq));
          const turns = 1 + Math.floor(random() * 4);
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          const isKnown = run.isKnown?.(seq) ?? true;
          const spentUsd = [...counted.values()].reduce((sum, usd) => sum + usd, 0);
          const flying = [...inFlight.values()].reduce((sum, usd) => sum + usd, 0);
          // Anything above the cap when a call ends is in flight at that moment.
          if (spentUsd <= run.maxCostUsd) outcome.inFlightUsd = Math.max(outcome.inFlightUsd, flying);
          inFlight.delete(seq);
          counted.set(seq, isKnown ? run.costOf(seq) : reservedUsd);
          outcome.costs.push(isKnown ? run.costOf(seq) : reservedUsd);
          return isKnown ? { knownCostUsd: run.costOf(seq), unknownShare: 0 } : { knownCostUsd: 0, unknownShare: 1 };
        },
      });
      queue.giveBack(ticket, { ...result, ...costOfBatch(from, to), estimate: budget.estimate });
      starved = result.starved;
      if (starved && ticket.all) isOver = true;
      move();
      if (starved && !isOver && queue.active > 0) await settled();
    }
    move();
  }

  await Promise.all(plan.lanes.map(lane));
  waiting = [];
  return { ...outcome, isDone: queue.empty, countedUsd: [...counted.values()].reduce((sum, usd) => sum + usd, 0) };
}

/** Heavy-tailed: most cost little, some a hundred times as much. */
const pareto = (random: () => number) => Math.min(100, 0.3 * (1 - random()) ** (-1 / 1.3));

const SHAPES: Record<string, (random: () => number, examples: number) => number[]> = {
  constant: (_, examples) => Array.from({ length: examples }, () => 1),
  'evenly spread': (random, examples) => Array.from({ length: examples }, () => 0.2 + 1.6 * random()),
  'heavy-tailed': (random, examples) => Array.from({ length: examples }, () => pareto(random)),
  'rising twentyfold': (_, examples) => Array.from({ length: examples }, (_, at) => 0.1 + (1.9 * at) / examples),
  'falling twentyfold': (_, examples) => Array.from({ length: examples }, (_, at) => 2 - (1.9 * at) / examples),
  'a dear first one': (_, examples) => Array.from({ length: examples }, (_, at) => (at === 0 ? 30 : 1)),
  'dear ones among cheap ones': (random, examples) =>
    Array.from({ length: examples }, () => (random() < 0.03 ? 15 : 0.5)),
};

const SIZES = [
  { examples: 150, concurrency: 1 },
  { examples: 400, concurrency: 20 },
  { examples: 600, concurrency: 50 },
  { examples: 800, concurrency: 200 },
  // Several batches, in one lane and in two.
  { examples: 5_001, concurrency: 20 },
  { examples: 5_001, concurrency: 60 },
];

test.each(Object.keys(SHAPES))('at least 90 %% of a cap is used before a run stops for it: %s', async (shape) => {
  for (const size of SIZES) {
    for (const [seed, guessUsd] of [0.01, 1, 500].entries()) {
      const random = createRandom(seed + 1);
      const costs = SHAPES[shape]?.(random, size.examples) ?? [];
      const total = costs.reduce((sum, usd) => sum + usd, 0);
      for (const part of [0.3, 0.8]) {
        const maxCostUsd = total * part;
        const outcome = await simulate({ ...size, maxCostUsd, guessUsd, costOf: (seq) => costs[seq] ?? 0 }, random);
        const remainingUsd = maxCostUsd - outcome.countedUsd;
        const what = JSON.stringify({
          shape,
          ...size,
          guessUsd,
          part,
          used: outcome.countedUsd / maxCostUsd,
          ...outcome,
          costs: undefined,
        });
        const meanUsd = outcome.costs.reduce((sum, usd) => sum + usd, 0) / outcome.costs.length;
        if (!outcome.isDone && remainingUsd >= Math.max(maxCostUsd * 0.1, meanUsd))
          throw new Error(`stopped too early: ${what}`);
        if (-remainingUsd > outcome.inFlightUsd + 1e-9) throw new Error(`spent too much: ${what}`);
      }
    }
  }
});

test('a cap for a few calls is kept, even if no cost is ever known', async () => {
  for (const concurrency of [1, 20, 200]) {
    const run = { examples: 150, concurrency, maxCostUsd: 3.3, guessUsd: 1, costOf: () => 1, isKnown: () => false };
    const outcome = await simulate(run, createRandom(7));
    expect(outcome.isDone).toBe(false);
    expect(outcome.calls).toBe(3);
  }
});

test('a cap below what one example costs stops after one call', async () => {
  for (const concurrency of [1, 200]) {
    const run = { examples: 150, concurrency, maxCostUsd: 0.5, guessUsd: 3, costOf: () => 1 };
    expect(await simulate(run, createRandom(7))).toMatchObject({ isDone: false, calls: 1, countedUsd: 1 });
  }
});

test.each([1, 20, 50, 200])(
  'calls that cost thousands of times the guess exceed a small cap by less than one of them, %d at a time',
  async (concurrency) => {
    for (const maxCostUsd of [0.5, 2, 5]) {
      const run = { examples: 400, concurrency, maxCostUsd, guessUsd: 0.0003, costOf: () => 0.6 };
      const outcome = await simulate(run, createRandom(5));
      expect(outcome.isDone).toBe(false);
      expect(outcome.countedUsd).toBeLessThan(maxCostUsd + 0.6);
    }
  },
);

test('a cheap first call does not start a wave of costly ones', async () => {
  for (const concurrency of [20, 50, 200]) {
    const costOf = (seq: number) => (seq === 0 ? 0.001 : 0.6);
    const run = { examples: 400, concurrency, maxCostUsd: 2, guessUsd: 0.0003, costOf };
    expect((await simulate(run, createRandom(5))).countedUsd).toBeLessThan(2 * 2);
  }
});

test('if every other cost is unknown, the known ones set the expected cost', async () => {
  const run = {
    examples: 400,
    concurrency: 50,
    maxCostUsd: 100,
    guessUsd: 20,
    costOf: () => 1,
    isKnown: (seq: number) => seq % 2 === 0,
  };
  const outcome = await simulate(run, createRandom(3));
  expect(outcome.isDone).toBe(false);
  expect(outcome.countedUsd).toBeGreaterThan(90);
});
