/**
 * A call's time limit combined with its caller's signal. `AbortSignal.any` is avoided because many calls share one long-lived
 * signal.
 */
export interface Deadline {
  /** Aborts at the time limit and when the caller aborts. */
  signal: AbortSignal;
  /** Whether the time limit aborted it. */
  expired(): boolean;
  /** Releases the timer and the caller's signal. */
  end(): void;
}

/** The longest delay a timer can hold; about 24.8 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function startDeadline(caller: AbortSignal, timeoutMs: number): Deadline {
  const controller = new AbortController();
  let isExpired = false;
  const onAbort = () => controller.abort(caller.reason);
  const timer = setTimeout(
    () => {
      isExpired = true;
      controller.abort(new DOMException('The time limit was reached.', 'TimeoutError'));
    },
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  caller.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    expired: () => isExpired,
    end() {
      clearTimeout(timer);
      caller.removeEventListener('abort', onAbort);
    },
  };
}
