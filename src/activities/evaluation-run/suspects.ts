import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { DEATHS_UNTIL_ALONE, DEATHS_UNTIL_QUARANTINE } from '../../lib/quarantine.ts';
import type { Places } from '../../temporal/places.ts';
import type { BatchProgress } from './batch-progress.ts';
import type { BatchHeartbeat } from './batch-watch.ts';

/** Processes have ended while they worked on a batch: what was in flight then may have been the cause. */
export interface Suspicion {
  /** How many. */
  deaths: number;
  /** The number of the example that the last one ran alone. */
  alone?: number;
}

/** Heartbeats go out once a second: by then the one that tells which example runs alone has arrived. */
const TOLD_AFTER_MS = 2_500;

/**
 * @param known of the batch before it was held back
 * @returns undefined where no attempt at it has ended without a result
 */
export function suspicionOf({ attempt, heartbeatDetails }: Context['info'], known?: Suspicion): Suspicion | undefined {
  if (attempt === 1) return known;
  const { alone } = (heartbeatDetails ?? {}) as Partial<BatchHeartbeat>;
  return { deaths: (known?.deaths ?? 0) + attempt - 1, ...(alone !== undefined && { alone }) };
}

/** The examples of a batch that may have been in flight when a process ended. */
export class Suspects {
  readonly #suspicion: Suspicion;
  readonly #quarantine: Places['quarantine'];
  readonly #progress: BatchProgress;
  #left: number;

  /** @param concurrency so many, those that are begun first, are suspect */
  constructor(
    suspicion: Suspicion | undefined,
    concurrency: number,
    quarantine: Places['quarantine'],
    progress: BatchProgress,
  ) {
    this.#suspicion = suspicion ?? { deaths: 0 };
    this.#left = suspicion === undefined ? 0 : concurrency;
    this.#quarantine = quarantine;
    this.#progress = progress;
  }

  /** Whether the last process ended while it ran this example alone. */
  isCause(seq: number): boolean {
    return this.#suspicion.deaths > DEATHS_UNTIL_ALONE && this.#suspicion.alone === seq;
  }

  /**
   * Does `work` on an example when it may be done.
   * @throws the reason of `signal`, which ends the wait
   */
  async run<T>(seq: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { deaths } = this.#suspicion;
    if (this.#left === 0 || deaths < DEATHS_UNTIL_QUARANTINE) return work();
    this.#left -= 1;
    const release = await this.#quarantine.place(deaths).acquire(signal);
    try {
      if (deaths >= DEATHS_UNTIL_ALONE) {
        this.#progress.alone = seq;
        await delay(TOLD_AFTER_MS, undefined, { signal });
      }
      return await work();
    } finally {
      this.#progress.alone = undefined;
      release();
    }
  }
}
