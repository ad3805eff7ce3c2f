/** The time for a request is over. */
export class OutOfTimeError extends Error {
  readonly code = 'OUT_OF_TIME';
  constructor() {
    super('The time for the request is over.');
    this.name = 'OutOfTimeError';
  }
}

/**
 * Runs `work` with a signal that is aborted after `timeoutMs`, or when `signal` is, and doesn't wait any longer then,
 * even where the work goes on for a while.
 *
 * @throws OutOfTimeError, the reason of the signal, or what the work throws
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
    const gaveUp = Promise.withResolvers<never>();
    giveUp.signal.addEventListener('abort', () => gaveUp.reject(giveUp.signal.reason), { once: true });
    return await Promise.race([work(giveUp), gaveUp.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
