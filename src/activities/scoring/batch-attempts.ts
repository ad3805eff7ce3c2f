import { Context } from '@temporalio/activity';
import type { Entered } from '../../temporal/slots.ts';
import { isAttemptCurrent } from '../still-ours.ts';
import { type BatchWatch, type BatchWatchOptions, watchBatch } from './batch-watch.ts';
import { type Suspicion, suspicionOf } from './suspects.ts';

/** The workspace has enough batches in flight, and nothing was done. */
export interface HeldBack {
  heldBackMs: number;
  suspicion?: Suspicion;
}

/**
 * Works on a batch if its workspace may have one more in flight.
 * @param enter asks for a place among the batches in flight
 * @param work receives the batch with what is known of crashed processes
 */
export async function whenAdmitted<Batch extends { suspicion?: Suspicion }, Result>(
  batch: Batch,
  enter: (batch: Batch) => Promise<Entered>,
  work: (batch: Batch) => Promise<Result>,
): Promise<Result | HeldBack> {
  const suspicion = suspicionOf(Context.current().info, batch.suspicion);
  const known = suspicion && { suspicion };
  const entered = await enter(batch);
  if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs, ...known };
  try {
    return await work({ ...batch, ...known });
  } finally {
    entered.release();
  }
}

/** One attempt of this process at a batch. */
interface Attempt {
  watch: BatchWatch;
  ended: Promise<unknown>;
}

/**
 * The attempts of this process at batches. An earlier attempt that Temporal timed out may not know yet that the next one has taken
 * over: its watch is stopped.
 * @returns a function that makes an attempt. `work` receives the end of the earlier one, which never fails
 */
export function createBatchAttempts(stopping: AbortSignal) {
  const latest = new Map<string, Attempt>();

  return async function attemptBatch<Result>(
    name: string,
    options: Pick<BatchWatchOptions, 'isOver' | 'describe'>,
    work: (watch: BatchWatch, earlierEnded: Promise<unknown>) => Promise<Result>,
  ): Promise<Result> {
    const context = Context.current();
    if (!(await isAttemptCurrent(context))) throw new Error('Temporal had timed this attempt out before it started.');
    const watch = watchBatch(context, { stopping, ...options });
    const earlier = latest.get(name);
    earlier?.watch.stop();
    const working = work(
      watch,
      (earlier?.ended ?? Promise.resolve()).catch(() => {}),
    );
    const attempt = { watch, ended: working };
    latest.set(name, attempt);
    try {
      return await working;
    } finally {
      watch.end();
      if (latest.get(name) === attempt) latest.delete(name);
    }
  };
}
