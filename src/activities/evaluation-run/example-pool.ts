import type { OpenExample } from '../../services/evaluations/results-store.ts';
import type { BatchBudget, ExampleCost } from './batch-budget.ts';

/** Gives the next examples in order; an empty page is the end. */
export type LoadPage = (from: number, limit: number) => Promise<OpenExample[]>;

export interface PoolOptions {
  from: number;
  concurrency: number;
  budget: BatchBudget;
  loadPage: LoadPage;
  /**
   * @param reservedUsd what was set aside for it
   * @returns what the example has cost; undefined where nothing was billed
   */
  runExample: (example: OpenExample, reservedUsd: number) => Promise<ExampleCost | undefined>;
  /** True as soon as no more examples are to be begun. */
  stopped: () => boolean;
}

/** Why a pool ended. `starved`: the money left was not enough for a single example. */
export interface PoolResult {
  finished: boolean;
  starved: boolean;
}

const PAGE_SIZE = 50;

/**
 * Runs examples with at most `concurrency` in flight: as one ends the next begins. When no more are to be begun, those in
 * flight are waited for, so that nothing that is paid for is lost. The first error stops the pool and is thrown at its end.
 */
export async function runPool(options: PoolOptions): Promise<PoolResult> {
  const { concurrency, budget, loadPage, runExample, stopped } = options;
  const page: OpenExample[] = [];
  let nextSeq = options.from;
  let loading: Promise<void> | undefined;
  let atEnd = false;
  let outOfMoney = false;
  let begun = 0;
  let failure: { error: unknown } | undefined;
  let inFlight = 0;
  let wakeAll = () => {};
  let settled = new Promise<void>((resolve) => {
    wakeAll = resolve;
  });

  async function load(): Promise<void> {
    const rows = await loadPage(nextSeq, PAGE_SIZE);
    atEnd = rows.length === 0;
    nextSeq = (rows.at(-1)?.seq ?? nextSeq) + 1;
    // An example that there was no money for may have been put back meanwhile.
    page.push(...rows);
  }

  async function next(): Promise<OpenExample | undefined> {
    while (page.length === 0 && !atEnd) {
      loading ??= load().finally(() => {
        loading = undefined;
      });
      await loading;
    }
    return page.shift();
  }

  /** Money for one example, which counts as in flight from here on; waits for others in flight to give some back. */
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

  async function worker(): Promise<void> {
    while (!stopped() && failure === undefined && !outOfMoney) {
      const example = await next();
      if (example === undefined) return;
      const reserved = await reserve();
      if (reserved === undefined || stopped() || failure !== undefined) {
        if (reserved !== undefined) settle(reserved, undefined);
        else outOfMoney = !stopped();
        page.unshift(example);
        return;
      }
      begun += 1;
      let cost: ExampleCost | undefined;
      try {
        cost = await runExample(example, reserved);
      } catch (error) {
        failure ??= { error };
      } finally {
        settle(reserved, cost);
      }
    }
  }

  // An error of loading a page must not leave calls in flight behind either.
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, () => worker()));
  if (failure !== undefined) throw failure.error;
  for (const outcome of workers) if (outcome.status === 'rejected') throw outcome.reason;
  return { finished: atEnd && page.length === 0, starved: outOfMoney && begun === 0 };
}
