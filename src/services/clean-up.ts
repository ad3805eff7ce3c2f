import type { SystemDatabase } from '../db/database.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';

/** Deletes what has expired: idempotency keys and counters of the rate limiter. */
export async function cleanUp(db: SystemDatabase): Promise<void> {
  await db.query({
    text: `delete from idempotency_keys where created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`,
  });
  await db.query({ text: 'delete from rate_limits where expire < $1' }, [Date.now()]);
}
