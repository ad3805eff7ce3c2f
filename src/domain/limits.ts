/** How long an `Idempotency-Key` is remembered. */
export const IDEMPOTENCY_HOURS = 24;

/** How often the model of one execution is called at most, those calls included whose worker died. The claim keeps it. */
export const MAX_CALL_ATTEMPTS = 5;

/**
 * What was in flight when so many processes ended is set aside: it runs again, but one at a time. Where a further process ends meanwhile, an
 * execution has failed, and an example where two do.
 */
export const CRASHES_BEFORE_ISOLATION = 2;

/**
 * A run that no caller was told of by then is withdrawn instead of begun. Longer than starting a workflow may take, and
 * than the first look of whoever waits for the run.
 */
export const ACCEPT_WITHIN_MS = 30_000;
