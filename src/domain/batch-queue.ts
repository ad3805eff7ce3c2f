import { type CostEstimate, reserveFor } from './evaluations/cost-estimate.ts';
import type { EvaluationPlan } from './evaluations/evaluation-plan.ts';

/** The progress of a run, small enough to be handed from one workflow run to the next. */
export interface BatchProgress {
  /** Batches from here on have not been touched. */
  next: number;
  /** Batches that were begun and have to be continued. */
  unfinished: number[];
  /** What finished batches have cost in US dollars. */
  spentUsd: number;
  /** What unfinished batches have cost so far, by batch. */
  spentByBatchUsd: Record<number, number>;
  /** What one example costs, as the batch that came back last has seen it. */
  estimate?: CostEstimate;
}

export const NO_PROGRESS: BatchProgress = { next: 0, unfinished: [], spentUsd: 0, spentByBatchUsd: {} };

/** A batch to work on. */
export interface BatchTicket {
  batch: number;
  /** What it has cost so far. */
  spentUsd: number;
  /** What it may have cost in all when the work on it stops; null: no limit. */
  spendUpToUsd: number | null;
  /** Whether it was given all that is left, and no other batch can bring money back. */
  all: boolean;
  /** Whether it is only to find out what an example costs: the other lanes wait until then. */
  probe: boolean;
}

/** The outcome of the work on a batch. */
interface BatchReturn {
  finished: boolean;
  /** What all of it has cost by now. */
  costUsd: number;
  estimate?: CostEstimate | undefined;
}

/**
 * Hands out a run's batches within its budget. Every unfinished batch holds a grant of what is left, so that all of them
 * together can't spend more than `maxCostUsd`, whatever runs at the same time. None gets more than it can be expected to need,
 * and where little is left, few get some: one batch must not hold money that another one needs.
 */
export class BatchQueue {
  readonly #plan: EvaluationPlan;
  readonly #progress: BatchProgress;
  readonly #granted = new Map<number, number>();
  #probes: boolean;

  /** @param options `probes`: within a budget one lane begins alone if no cost is known yet */
  constructor(plan: EvaluationPlan, progress: BatchProgress, { probes }: { probes: boolean }) {
    this.#plan = plan;
    this.#probes = probes && progress.estimate === undefined;
    this.#progress = {
      ...progress,
      unfinished: [...progress.unfinished],
      spentByBatchUsd: { ...progress.spentByBatchUsd },
    };
  }

  /** Nothing is left to hand out. */
  get empty(): boolean {
    return this.#progress.next >= this.#plan.batches && this.#progress.unfinished.length === 0;
  }

  get active(): number {
    return this.#granted.size;
  }

  /** What to go on from. Complete only while no batch is handed out. */
  get progress(): BatchProgress {
    return this.#progress;
  }

  #spentUsd(): number {
    return this.#progress.spentUsd + Object.values(this.#progress.spentByBatchUsd).reduce((sum, cost) => sum + cost, 0);
  }

  /** What is neither spent nor granted; null: no limit. */
  #freeUsd(maxCostUsd: number | null): number | null {
    if (maxCostUsd === null) return null;
    const granted = [...this.#granted.values()].reduce((sum, grant) => sum + grant, 0);
    return maxCostUsd - this.#spentUsd() - granted;
  }

  /** How much of what is free one batch gets; undefined: others must come back first. */
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
   * The next batch with its share of what is left; undefined where nothing is left to do or to spend, or too little to begin
   * another batch while some are out.
   * @param options `all`: give it everything, where no other batch is out, since a share was not enough for one example
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
