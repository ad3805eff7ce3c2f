/** How long an `Idempotency-Key` is remembered. */
export const IDEMPOTENCY_HOURS = 24;

/** The maximum number of model calls of one execution, including calls whose worker died. Enforced when an execution is claimed. */
export const MAX_CALL_ATTEMPTS = 5;

/**
 * Work that was in flight when this number of processes crashed is isolated: it runs again, but one item at a time. An execution
 * fails if one more process crashes during that run, and an example if two do.
 */
export const CRASHES_BEFORE_ISOLATION = 2;

/**
 * A run whose caller was not notified within this time is withdrawn instead of started. Longer than starting a workflow may take,
 * and than the first poll of a waiting caller.
 */
export const ACCEPT_WITHIN_MS = 30_000;
