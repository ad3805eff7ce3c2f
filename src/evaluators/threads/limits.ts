/** Wall-clock milliseconds for all the evaluators of one example together. */
export const EXAMPLE_LIMIT_MS = 1_000;

/** The same for compiling the expressions and schemas of a request. */
export const CHECK_LIMIT_MS = 3_000;

/**
 * The limit for compiling them again where they are used: longer, so that what was accepted does not fail on a busy machine.
 */
export const PREPARE_LIMIT_MS = 10_000;
