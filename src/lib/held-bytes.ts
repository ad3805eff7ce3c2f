import type { FairSemaphore, Release } from './fair-semaphore.ts';

/** Most work holds less than this, which is not counted. */
const FREE_BYTES = 64 * 1024;
/** Growth factor of each reservation: keeps waits few, and most work has none. */
const STEP = 16;

/** The bytes of a budget held by one piece of work whose needs become known only over time. */
export class HeldBytes {
  readonly #budget: FairSemaphore;
  readonly #workspace: string;
  readonly #factor: number;
  #room = FREE_BYTES;
  #release: Release | undefined;

  /**
   * @param workspace that the bytes count for
   * @param factor memory per reported byte
   */
  constructor(budget: FairSemaphore, workspace: string, factor: number) {
    this.#budget = budget;
    this.#workspace = workspace;
    this.#factor = factor;
  }

  /**
   * Waits until there is room for that many bytes in total. It releases what it holds before it waits, so that no two wait for each
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
