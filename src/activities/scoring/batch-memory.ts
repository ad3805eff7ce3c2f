import type { FairSemaphore, Release } from '../../lib/fair-semaphore.ts';
import type { OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { MAX_EXAMPLE_WEIGHT, weightOfExample } from './weights.ts';

type SizedExample = Pick<OpenExample, 'seq' | 'bytes'>;

/** Accounts for the memory of a batch's examples from loading to completion. */
export class BatchMemory {
  readonly #bytes: FairSemaphore;
  readonly #workspace: string;
  readonly #pages = new Map<Release, number>();
  readonly #pageOf = new Map<number, Release>();
  #isClosed = false;

  /** @param workspace public id */
  constructor(bytes: FairSemaphore, workspace: string) {
    this.#bytes = bytes;
    this.#workspace = workspace;
  }

  /**
   * Loads a page when there is room for the largest possible one.
   * @param signal ends the wait
   * @throws the reason of `signal`
   */
  async load<Example extends SizedExample>(signal: AbortSignal, load: () => Promise<Example[]>): Promise<Example[]> {
    const release = await this.#bytes.acquire(this.#workspace, { amount: MAX_EXAMPLE_WEIGHT, signal });
    try {
      const examples = await load();
      const weight = examples.reduce((sum, example) => sum + weightOfExample(example), 0);
      if (this.#isClosed || weight === 0) release();
      else {
        release(weight);
        this.#pages.set(release, weight);
        for (const { seq } of examples) this.#pageOf.set(seq, release);
      }
      return examples;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Frees the memory of a completed example. */
  free(example: SizedExample): void {
    const page = this.#pageOf.get(example.seq);
    if (page === undefined || !this.#pageOf.delete(example.seq)) return;
    const left = (this.#pages.get(page) ?? 0) - weightOfExample(example);
    if (left > 0) this.#pages.set(page, left);
    else this.#pages.delete(page);
    page(left);
  }

  /** Frees the rest when the batch ends, including examples that did not run. */
  close(): void {
    this.#isClosed = true;
    for (const release of this.#pages.keys()) release();
    this.#pages.clear();
    this.#pageOf.clear();
  }
}
