import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { CRASHES_BEFORE_ISOLATION } from '../../domain/limits.ts';
import type { Slots } from '../../temporal/slots.ts';
import type { BatchProgress } from './batch-progress.ts';
import type { BatchHeartbeat } from './batch-watch.ts';

/** Processes crashed while working on a batch, possibly because of the examples that were in flight. */
export interface Suspicion {
  /** The number of crashes. */
  deaths: number;
  /** Isolated examples that were in flight during one crash, which may be chance. */
  warned: number[];
  /** Isolated examples that were in flight during another crash. */
  poison: number[];
}

/** Heartbeats are sent every second: after this time the one with the isolated example has arrived. */
const TOLD_AFTER_MS = 2_500;

/**
 * @param known from before the batch was deferred
 * @returns undefined if no attempt has ended without a result
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

/** The examples of a batch that may have been in flight when processes crashed. */
export class Suspects {
  readonly #poison: ReadonlySet<number>;
  readonly #workspace: string;
  readonly #slots: Slots;
  readonly #progress: Pick<BatchProgress, 'setAside' | 'warned'>;
  /** The number of suspects, which start first. */
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

  /** Whether two processes crashed while they ran this isolated example. */
  isPoison(seq: number): boolean {
    return this.#poison.has(seq);
  }

  /**
   * Does `work` on an example when it is allowed to run.
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
