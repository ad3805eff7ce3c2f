/** How long an `Idempotency-Key` is remembered. */
export const IDEMPOTENCY_HOURS = 24;
