import type { RetryingModels } from '../call-with-retries.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { BatchHeartbeat } from './batch-watch.ts';

/** What a batch works with once it is loaded. */
interface Sources {
  budget: BatchBudget;
  store: { readonly failed: number };
  /** Why calls wait. */
  waits: () => string[];
}

/** Counts what a batch has completed. */
export class BatchProgress {
  readonly #of: number | undefined;
  #sources: Sources | undefined;
  /** See {@link BatchHeartbeat}. */
  readonly setAside = new Set<number>();
  warned: readonly number[] = [];
  #done = 0;
  #nextSeq: number;

  /** @param range undefined if the batch takes what is due */
  constructor(range?: { from: number; to: number }) {
    this.#of = range && range.to - range.from;
    this.#nextSeq = range?.from ?? 0;
  }

  /** Called when the batch is loaded. */
  begin(sources: Sources): void {
    this.#sources = sources;
  }

  /**
   * @param open the next examples without a result; all before them have one
   * @param to exclusive end, used if there are none
   */
  skipTo(open: readonly { seq: number }[], to: number): void {
    const nextSeq = (open.at(-1)?.seq ?? to - 1) + 1;
    this.#done += nextSeq - this.#nextSeq - open.length;
    this.#nextSeq = nextSeq;
  }

  exampleDone(): void {
    this.#done += 1;
  }

  get heartbeat(): BatchHeartbeat {
    const { budget, store, waits: currentWaits } = this.#sources ?? {};
    const inFlight = budget?.inFlight ?? 0;
    const waits = currentWaits?.() ?? [];
    return {
      done: this.#done,
      of: this.#of ?? this.#done + inFlight,
      failed: store?.failed ?? 0,
      inFlight,
      spentUsd: Number((budget?.spentUsd ?? 0).toFixed(6)),
      ...(this.setAside.size > 0 && { setAside: [...this.setAside] }),
      ...(this.warned.length > 0 && { warned: this.warned }),
      ...(waits.length > 0 && { waits }),
    };
  }
}

/** Describes which of the models currently refuse calls. */
export function refusals(models: RetryingModels, names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => {
    const until = models.refusedUntil(name);
    return until === undefined ? [] : [`${name} refused calls: calls again at ${until.toISOString()}`];
  });
}
