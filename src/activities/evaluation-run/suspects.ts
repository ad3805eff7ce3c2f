import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { CRASHES_BEFORE_ISOLATION } from '../../domain/limits.ts';
import type { Slots } from '../../temporal/slots.ts';
import type { BatchProgress } from './batch-progress.ts';
import type { BatchHeartbeat } from './batch-watch.ts';

/** Processes have ended while they worked on a batch: what was in flight then may have been the cause. */
export interface Suspicion {
  /** How many. */
  deaths: number;
  /** The numbers of the examples that were set aside, and in flight when one ended: that may have been chance. */
  warned: number[];
  /** Those of which another one ended then. */
  poison: number[];
}

/** Heartbeats go out once a second: by then the one that tells which example was set aside has arrived. */
const TOLD_AFTER_MS = 2_500;

/**
 * @param known of the batch before it was held back
 * @returns undefined where no attempt at it has ended without a result
 */
export function suspicionOf({ attempt, heartbeatDetails }: Context['info'], known?: Suspicion): Suspicion | undefined {
  if (attempt === 1) return known;
  const { setAside = [], warned = known?.warned ?? [] } = (heartbeatDetails ?? {}) as Partial<BatchHeartbeat>;
  return {
    deaths: (known?.deaths ?? 0) + attempt - 1,
    warned: [...new Set([...warned, ...setAside])],
    poison: setAside.filter((seq) => warned.includes(seq)),
  };
}

/** The examples of a batch that may have been in flight when processes ended. */
export class Suspects {
  readonly #poison: ReadonlySet<number>;
  readonly #workspace: string;
  readonly #slots: Slots;
  readonly #progress: Pick<BatchProgress, 'setAside' | 'warned'>;
  /** How many there are: those that are begun first. */
  #left: number;

  constructor(
    {
      suspicion,
      concurrency,
      workspace,
    }: { suspicion?: Suspicion | undefined; concurrency: number; workspace: string },
    slots: Slots,
    progress: Pick<BatchProgress, 'setAside' | 'warned'>,
  ) {
    const { deaths = 0, warned = [], poison = [] } = suspicion ?? {};
    progress.warned = warned;
    this.#poison = new Set(poison);
    this.#left = deaths < CRASHES_BEFORE_ISOLATION ? 0 : concurrency;
    this.#workspace = workspace;
    this.#slots = slots;
    this.#progress = progress;
  }

  /** Whether two processes have ended while they ran this example, which had been set aside. */
  isPoison(seq: number): boolean {
    return this.#poison.has(seq);
  }

  /**
   * Does `work` on an example when it may be done.
   * @throws the reason of `signal`, which ends the wait
   */
  async run<T>(seq: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#left === 0) return work();
    this.#left -= 1;
    const release = await this.#slots.waitSetAside(this.#workspace, signal);
    this.#progress.setAside.add(seq);
    try {
      await delay(TOLD_AFTER_MS, undefined, { signal });
      return await work();
    } finally {
      this.#progress.setAside.delete(seq);
      release();
    }
  }
}
