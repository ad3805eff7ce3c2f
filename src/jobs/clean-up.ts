import type { SystemDatabase } from '../db/database.ts';
import { deleteInBatches, type RowsToDelete } from '../db/delete-in-batches.ts';
import type { DECLARATIONS } from '../domain/capabilities.ts';
import type { Merged } from '../domain/capability.ts';
import { sweep } from './sweep.ts';

/** How long ended resources are kept, in ms; undefined: forever. */
export type Retention = {
  /** Events, their deliveries, notifications, and changes of monitors' states. */
  events: number;
} & Partial<Record<keyof Merged<typeof DECLARATIONS, 'retention'>, number | undefined>>;

/** One step of deleting expired rows. Safe to run in several processes at once. */
export type Expiry = RowsToDelete | ((db: SystemDatabase, signal: AbortSignal) => Promise<unknown>);

/**
 * Deletes expired rows, then rows that callers deleted and that are only hidden, all in small steps. Safe to run in several
 * processes at once.
 * @param expired the declarations of each capability
 * @param signal stops after the current step
 * @throws AggregateError of the failed steps, after all others are done
 */
export async function cleanUp(
  db: SystemDatabase,
  expired: readonly Expiry[],
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const step of [...expired, sweep]) {
    if (signal.aborted) break;
    const done = typeof step === 'function' ? step(db, signal) : deleteInBatches(db.query, step, signal);
    await done.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} steps of cleaning up failed.`);
}
