import type pg from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { SystemDatabase } from '../../db/database.ts';
import { SingleFlight } from '../../lib/single-flight.ts';

/** The state of a limit after a request. */
export interface RateLimitState {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the full limit is available again. */
  resetSeconds: number;
}

/** A limit per minute that all processes share through the database. */
export interface RateLimiter {
  /** Counts one request against the caller's limit. */
  take(caller: string): Promise<RateLimitState>;
  /** The state of a caller whose limit is known locally to be used up; otherwise undefined. Makes no calls. */
  exhausted(caller: string): RateLimitState | undefined;
}

interface Lease {
  left: number;
  sharedRemaining: number;
  until: number;
}

const WINDOW_SECONDS = 60;
/** The largest share of the limit that a process leases from the database in one step and then hands out locally. */
const LEASE_SHARE = 1 / 100;
const REMEMBER_CALLERS = 10_000;

/**
 * The limit is exact across all processes: each request is counted before it is let through. To spare the database, a process
 * leases a hundredth of the limit at a time, which is also the most that a stopped or idle process withholds.
 */
export function createRateLimiter(db: SystemDatabase, name: string, limit: number): RateLimiter {
  const store = new RateLimiterPostgres({
    // Only `query` of the client is used. The migrations create the table.
    storeClient: {
      query: (config: pg.QueryConfig) =>
        db.query(config, config.values).then((rows) => ({ rows, rowCount: rows.length })),
    },
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: name,
    points: limit,
    duration: WINDOW_SECONDS,
    clearExpiredByTimeout: false,
  });
  const leaseSize = Math.max(1, Math.floor(limit * LEASE_SHARE));
  const leases = new Map<string, Lease>();
  const leasing = new SingleFlight<Lease>();

  async function lease(caller: string): Promise<Lease> {
    let result: RateLimiterRes;
    let granted = leaseSize;
    try {
      result = await store.consume(caller, leaseSize);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      result = error;
      // The last lease may be smaller: whatever remained.
      granted = Math.max(0, limit - (error.consumedPoints - leaseSize));
    }
    const next = { left: granted, sharedRemaining: result.remainingPoints, until: Date.now() + result.msBeforeNext };
    if (leases.size >= REMEMBER_CALLERS) leases.clear();
    leases.set(caller, next);
    return next;
  }

  const stateOf = (lease: Lease, allowed: boolean): RateLimitState => ({
    allowed,
    limit,
    remaining: lease.left + lease.sharedRemaining,
    resetSeconds: Math.max(1, Math.ceil((lease.until - Date.now()) / 1000)),
  });

  return {
    async take(caller) {
      for (;;) {
        const held = leases.get(caller);
        if (held && held.until > Date.now()) {
          if (held.left > 0) {
            held.left -= 1;
            return stateOf(held, true);
          }
          if (held.sharedRemaining <= 0) return stateOf(held, false);
        }
        await leasing.run(caller, () => lease(caller));
      }
    },
    exhausted(caller) {
      const held = leases.get(caller);
      if (held === undefined || held.until <= Date.now() || held.left > 0 || held.sharedRemaining > 0) return undefined;
      return stateOf(held, false);
    },
  };
}

/** A limit per minute of this process only, for routes that must also work without the database. */
export function createProcessRateLimiter(limit: number): Pick<RateLimiter, 'take'> {
  const store = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS });
  const stateOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, allowed: boolean): RateLimitState => ({
    allowed,
    limit,
    remaining: remainingPoints,
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
  return {
    take: (caller) =>
      store.consume(caller).then(
        (state) => stateOf(state, true),
        (state: RateLimiterRes) => stateOf(state, false),
      ),
  };
}
