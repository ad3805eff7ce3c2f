import type { FairSemaphore, Release } from './fair-semaphore.ts';

/** Less than this is held by most, and not counted. */
const FREE_BYTES = 64 * 1024;
/** What is held grows by so many times at once: few waits, and none for most. */
const STEP = 16;

/** The bytes of a budget that one piece of work holds, where only time tells how many it needs. */
export class HeldBytes {
  readonly #budget: FairSemaphore;
  readonly #workspace: string;
  readonly #factor: number;
  #room = FREE_BYTES;
  #release: Release | undefined;

  /**
   * @param workspace whose share it is
   * @param factor what a byte that it tells of takes in memory
   */
  constructor(budget: FairSemaphore, workspace: string, factor: number) {
    this.#budget = budget;
    this.#workspace = workspace;
    this.#factor = factor;
  }

  /**
   * Waits until there is room for so many bytes in all. It gives back what it has before it waits for more, so that no two wait for each
   * other.
   * @throws the reason of `signal`, which ends the wait
   */
  async growTo(bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes <= this.#room) return;
    while (bytes > this.#room) this.#room *= STEP;
    this.release();
    this.#release = await this.#budget.acquire(this.#workspace, { amount: this.#factor * this.#room, signal });
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
