/** Where a run stands, small enough to be handed from one workflow run to the next. */
export interface BatchProgress {
  /** Batches from here on have not been touched. */
  next: number;
  /** Batches that were begun and have to be gone on with. */
  unfinished: number[];
  /** What finished batches have cost in US dollars. */
  spentUsd: number;
  /** What unfinished batches have cost so far, by batch. */
  spentByBatchUsd: Record<number, number>;
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
}

/**
 * Hands out a run's batches within its budget. Every unfinished batch holds a grant of what is left, so that all of them
 * together can't spend more than `maxCostUsd`, whatever runs at the same time.
 */
export class BatchQueue {
  readonly #batches: number;
  readonly #lanes: number;
  readonly #progress: BatchProgress;
  readonly #granted = new Map<number, number>();

  constructor(batches: number, lanes: number, progress: BatchProgress) {
    this.#batches = batches;
    this.#lanes = lanes;
    this.#progress = {
      ...progress,
      unfinished: [...progress.unfinished],
      spentByBatchUsd: { ...progress.spentByBatchUsd },
    };
  }

  /** Nothing is left to hand out. */
  get empty(): boolean {
    return this.#progress.next >= this.#batches && this.#progress.unfinished.length === 0;
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

  /**
   * The next batch with its share of what is left; undefined where nothing is left to do or to spend.
   * @param options `all`: give it everything, where no other batch is out, since a share was not enough for one example
   */
  take(maxCostUsd: number | null, { all }: { all: boolean } = { all: false }): BatchTicket | undefined {
    const free = this.#freeUsd(maxCostUsd);
    if (this.empty || (free !== null && free <= 0)) return undefined;
    const batch = this.#progress.unfinished.shift() ?? this.#progress.next++;
    const alone = this.#granted.size === 0;
    const share = all && alone ? 1 : Math.max(1, this.#lanes - this.#granted.size);
    const grant = free === null ? 0 : free / share;
    this.#granted.set(batch, grant);
    const spentUsd = this.#progress.spentByBatchUsd[batch] ?? 0;
    return { batch, spentUsd, spendUpToUsd: free === null ? null : spentUsd + grant, all: share === 1 && alone };
  }

  /** Takes a batch back. @param costUsd what all of it has cost by now */
  giveBack({ batch }: BatchTicket, finished: boolean, costUsd: number): void {
    this.#granted.delete(batch);
    delete this.#progress.spentByBatchUsd[batch];
    if (finished) this.#progress.spentUsd += costUsd;
    else {
      this.#progress.spentByBatchUsd[batch] = costUsd;
      this.#progress.unfinished.push(batch);
    }
  }
}
