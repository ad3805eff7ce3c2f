/** The time limit of a request has passed. */
export class OutOfTimeError extends Error {
  readonly code = 'OUT_OF_TIME';
  constructor() {
    super('The request timed out.');
    this.name = 'OutOfTimeError';
  }
}

/**
 * Waits for `work` until `signal` is aborted, even if the work then continues for a while: undici ends a request that is still
 * connecting only when that has succeeded or failed.
 *
 * @throws the reason of the signal, or whatever the work throws
 */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Runs `work` with a signal that is aborted after `timeoutMs`, or when `signal` is, and then stops waiting.
 *
 * @throws OutOfTimeError, the reason of the signal, or whatever the work throws
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (giveUp: AbortController) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(new OutOfTimeError()), timeoutMs);
  const onAbort = () => giveUp.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await untilAborted(giveUp.signal, work(giveUp));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
