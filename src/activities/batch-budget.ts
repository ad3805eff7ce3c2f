/**
 * What a batch may still spend. Money is set aside before each call, so a batch goes over its limit by no more than what
 * the calls in flight cost above what was expected of them.
 */
export class BatchBudget {
  readonly #limitUsd: number | null;
  #spentUsd: number;
  #reservedUsd = 0;
  #expectedUsd: number;

  /** @param expectedUsd what one example is expected to cost before any has been seen */
  constructor(limitUsd: number | null, spentUsd: number, expectedUsd: number) {
    this.#limitUsd = limitUsd;
    this.#spentUsd = spentUsd;
    this.#expectedUsd = expectedUsd;
  }

  /** Sets the expected cost of one example aside; undefined where it is not there. */
  reserve(): number | undefined {
    const expected = this.#expectedUsd;
    if (this.#limitUsd !== null && this.#spentUsd + this.#reservedUsd + expected > this.#limitUsd) return undefined;
    this.#reservedUsd += expected;
    return expected;
  }

  /** Replaces what was set aside by what it was. The dearest example so far is what the next is expected to cost. */
  settle(reserved: number, costUsd: number): void {
    this.#reservedUsd -= reserved;
    this.#spentUsd += costUsd;
    if (costUsd > this.#expectedUsd) this.#expectedUsd = costUsd;
  }
}
