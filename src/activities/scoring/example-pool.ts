import { setTimeout as delay } from 'node:timers/promises';
import type { BatchBudget } from './batch-budget.ts';
import type { ExampleCost } from './example-in-progress.ts';

/** An example to run, with its size as text in bytes. */
export interface PoolExample {
  seq: number;
  bytes: number;
}

export interface PoolOptions<Example extends PoolExample> {
  from: number;
  concurrency: number;
  /**
   * Delay between the starts of the first examples in milliseconds; default: 1. Examples that start together also end together
   * and then wait for each other, as do all that follow.
   */
  beginApartMs?: number;
  budget: BatchBudget;
  /** The next examples in order; an empty page means the end. */
  loadPage: (from: number, limit: number) => Promise<Example[]>;
  /**
   * @param reservedUsd the money reserved for it
   * @returns the cost of the example; undefined if nothing was billed
   */
  runExample: (example: Example, reservedUsd: number) => Promise<ExampleCost | undefined>;
  /** True as soon as no more examples may be started. */
  stopped: () => boolean;
  /** Makes `stopped` true, and ends the waits of examples without a call in flight. */
  stop: () => void;
}

/** Why a pool ended. `starved` means that the remaining money did not cover a single example. */
export interface PoolResult {
  finished: boolean;
  starved: boolean;
}

const PAGE_SIZE = 50;
/** The next page is loaded when fewer examples than this are loaded. */
const LOAD_BELOW = 25;
/** No page is loaded while the loaded examples take more bytes than this. */
const LOAD_BELOW_BYTES = 256 * 1024;
const BEGIN_APART_MS = 1;

/**
 * Runs examples with at most `concurrency` in flight: as one ends, the next starts. On a stop, it waits for those in flight so
 * that nothing paid for is lost. The first error stops the pool and is thrown at its end, except errors of stopped
 * examples.
 */
export async function runPool<Example extends PoolExample>(options: PoolOptions<Example>): Promise<PoolResult> {
  const { concurrency, beginApartMs = BEGIN_APART_MS, budget, loadPage, runExample, stopped, stop } = options;
  const page: Example[] = [];
  let nextSeq = options.from;
  let loading: Promise<void> | undefined;
  let atEnd = false;
  let outOfMoney = false;
  /** Whether an example was given up and is still open. */
  let gaveUp = false;
  let begun = 0;
  let failure: { error: unknown } | undefined;
  let inFlight = 0;
  let wakeAll = () => {};
  let settled = new Promise<void>((resolve) => {
    wakeAll = resolve;
  });

  async function loadPageOnce(): Promise<void> {
    const rows = await loadPage(nextSeq, PAGE_SIZE);
    atEnd = rows.length === 0;
    nextSeq = (rows.at(-1)?.seq ?? nextSeq) + 1;
    // An example that could not be paid for may have been put back in the meantime.
    page.push(...rows);
  }

  const bytesAtHand = () => page.reduce((sum, { bytes }) => sum + bytes, 0);

  /** Loads the next page; only one load runs at a time. */
  function load(): Promise<void> {
    loading ??= loadPageOnce().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function next(): Promise<Example | undefined> {
    while (page.length === 0 && !atEnd) await load();
    const example = page.shift();
    // Prefetch, so that no example waits for a page. If it fails, the next caller retries and gets the error.
    if (page.length < LOAD_BELOW && bytesAtHand() < LOAD_BELOW_BYTES && !atEnd) void load().catch(() => {});
    return example;
  }

  /** Reserves money for one example, which counts as in flight from here on; waits until examples in flight return some. */
  async function reserve(): Promise<number | undefined> {
    for (;;) {
      const reserved = budget.reserve();
      if (reserved !== undefined) inFlight += 1;
      if (reserved !== undefined || inFlight === 0 || stopped()) return reserved;
      await settled;
    }
  }

  function settle(reserved: number, cost: ExampleCost | undefined): void {
    inFlight -= 1;
    budget.settle(reserved, cost);
    const wake = wakeAll;
    settled = new Promise((resolve) => {
      wakeAll = resolve;
    });
    wake();
  }

  /**
   * A separate function because a suspended one keeps its variables alive: waiting for the next example must not retain the
   * previous one.
   * @returns whether there may be another one
   */
  async function runNext(): Promise<boolean> {
    const example = await next();
    if (example === undefined) return false;
    const reserved = await reserve();
    if (reserved === undefined || stopped()) {
      if (reserved !== undefined) settle(reserved, undefined);
      else outOfMoney = !stopped();
      page.unshift(example);
      return false;
    }
    begun += 1;
    let cost: ExampleCost | undefined;
    try {
      cost = await runExample(example, reserved);
    } finally {
      settle(reserved, cost);
    }
    return true;
  }

  async function worker(): Promise<void> {
    while (!stopped() && !outOfMoney && (await runNext()));
  }

  async function workUntilError(): Promise<void> {
    try {
      await worker();
    } catch (error) {
      if (stopped()) gaveUp = true;
      else failure = { error };
      stop();
    }
  }

  const workers = [workUntilError()];
  while (workers.length < concurrency && !stopped() && !outOfMoney && (page.length > 0 || !atEnd)) {
    if (beginApartMs > 0) await delay(beginApartMs);
    workers.push(workUntilError());
  }
  await Promise.all(workers);
  if (failure !== undefined) throw failure.error;
  return { finished: atEnd && page.length === 0 && !gaveUp, starved: outOfMoney && begun === 0 };
}
