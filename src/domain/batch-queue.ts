import { type CostEstimate, reserveFor } from './evaluations/cost-estimate.ts';
import type { EvaluationPlan } from './evaluations/evaluation-plan.ts';

/** The progress of a run, small enough to be handed from one workflow run to the next. */
export interface BatchProgress {
  /** Batches from this one on have not been started. */
  next: number;
  /** Batches that were started and have to be continued. */
  unfinished: number[];
  /** The cost of finished batches in US dollars. */
  spentUsd: number;
  /** The cost of unfinished batches so far, by batch. */
  spentByBatchUsd: Record<number, number>;
  /** The cost of one example, as observed by the last returned batch. */
  estimate?: CostEstimate;
}

export const NO_PROGRESS: BatchProgress = { next: 0, unfinished: [], spentUsd: 0, spentByBatchUsd: {} };

/** A batch to work on. */
export interface BatchTicket {
  batch: number;
  /** Its cost so far. */
  spentUsd: number;
  /** The total cost at which work on it stops; null: no limit. */
  spendUpToUsd: number | null;
  /** Whether it got all of the remaining budget, and no other batch can return any. */
  all: boolean;
  /** Whether it only determines the cost of an example, while the other lanes wait. */
  probe: boolean;
}

/** The outcome of the work on a batch. */
interface BatchReturn {
  finished: boolean;
  /** Its total cost so far. */
  costUsd: number;
  estimate?: CostEstimate | undefined;
}

/**
 * Hands out a run's batches within its budget. Every unfinished batch holds a grant of the remaining budget, so that together
 * they can't spend more than `maxCostUsd`, whatever runs at the same time. No batch gets more than it is expected to need, and if
 * little is left, only a few get some, so that no batch holds budget that another one needs.
 */
export class BatchQueue {
  readonly #plan: EvaluationPlan;
  readonly #progress: BatchProgress;
  readonly #granted = new Map<number, number>();
  #probes: boolean;

  /** @param options `probes`: within a budget, one lane starts alone if no cost is known yet */
  constructor(plan: EvaluationPlan, progress: BatchProgress, { probes }: { probes: boolean }) {
    this.#plan = plan;
    this.#probes = probes && progress.estimate === undefined;
    this.#progress = {
      ...progress,
      unfinished: [...progress.unfinished],
      spentByBatchUsd: { ...progress.spentByBatchUsd },
    };
  }

  /** Whether nothing is left to hand out. */
  get empty(): boolean {
    return this.#progress.next >= this.#plan.batches && this.#progress.unfinished.length === 0;
  }

  get active(): number {
    return this.#granted.size;
  }

  /** The state to continue from. Complete only while no batch is handed out. */
  get progress(): BatchProgress {
    return this.#progress;
  }

  #spentUsd(): number {
    return this.#progress.spentUsd + Object.values(this.#progress.spentByBatchUsd).reduce((sum, cost) => sum + cost, 0);
  }

  /** The budget that is neither spent nor granted; null: no limit. */
  #freeUsd(maxCostUsd: number | null): number | null {
    if (maxCostUsd === null) return null;
    const granted = [...this.#granted.values()].reduce((sum, grant) => sum + grant, 0);
    return maxCostUsd - this.#spentUsd() - granted;
  }

  /** The grant of one batch from the free budget; undefined if others must return first. */
  #grantOf(freeUsd: number, all: boolean): number | undefined {
    const active = this.#granted.size;
    if (all && active === 0) return freeUsd;
    const lanes = Math.max(1, this.#plan.lanes.length - active);
    const { estimate } = this.#progress;
    if (estimate === undefined || reserveFor(estimate) === 0) return freeUsd / lanes;
    // Enough to keep a lane's calls in flight.
    const worthwhile = reserveFor(estimate) * Math.max(...this.#plan.lanes);
    const share = Math.max(1, Math.min(lanes, Math.floor(freeUsd / worthwhile)));
    if (share === 1 && active === 0) return freeUsd;
    if (freeUsd < worthwhile) return undefined;
    return Math.min(freeUsd / share, reserveFor(estimate) * this.#plan.batchSize);
  }

  /**
   * The next batch with its share of the remaining budget; undefined if nothing is left to do or to spend, or too little to start
   * another batch while some are out.
   * @param options `all`: grant everything if no other batch is out, because a share was not enough for one example
   */
  take(maxCostUsd: number | null, { all }: { all: boolean } = { all: false }): BatchTicket | undefined {
    const freeUsd = this.#freeUsd(maxCostUsd);
    if (this.empty || (freeUsd !== null && freeUsd <= 0)) return undefined;
    const probe = this.#probes && freeUsd !== null;
    if (probe && this.active > 0) return undefined;
    const grant = freeUsd === null ? 0 : this.#grantOf(freeUsd, all || probe);
    if (grant === undefined) return undefined;
    const isAll = this.#granted.size === 0 && grant === freeUsd;
    const batch = this.#progress.unfinished.shift() ?? this.#progress.next++;
    this.#granted.set(batch, grant);
    const spentUsd = this.#progress.spentByBatchUsd[batch] ?? 0;
    return { batch, spentUsd, spendUpToUsd: freeUsd === null ? null : spentUsd + grant, all: isAll, probe };
  }

  /** Takes a batch back. */
  giveBack({ batch }: BatchTicket, { finished, costUsd, estimate }: BatchReturn): void {
    this.#probes = false;
    this.#granted.delete(batch);
    delete this.#progress.spentByBatchUsd[batch];
    if (estimate !== undefined && estimate.examples > 0) this.#progress.estimate = estimate;
    if (finished) this.#progress.spentUsd += costUsd;
    else {
      this.#progress.spentByBatchUsd[batch] = costUsd;
      this.#progress.unfinished.push(batch);
    }
  }
}
