import { useSyncExternalStore } from 'react';

/** Set while the session has ended and nobody has signed in again. */
let waiting: PromiseWithResolvers<void> | undefined;
const listeners = new Set<() => void>();

const tell = () => {
  for (const listener of listeners) listener();
};

/** Opens the dialog to sign in over the page, and waits until that is done. @throws the abort's own error */
export async function untilSignedIn(signal?: AbortSignal): Promise<void> {
  if (waiting === undefined) {
    waiting = Promise.withResolvers<void>();
    tell();
  }
  signal?.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    await Promise.race([waiting.promise, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Lets the requests go on that have waited. */
export function reportSignedIn(): void {
  waiting?.resolve();
  waiting = undefined;
  tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the dialog to sign in is over the page. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => waiting !== undefined);
}
