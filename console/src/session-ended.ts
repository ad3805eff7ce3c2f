import { useSyncExternalStore } from 'react';

/** Set from the end of the session until the next sign-in. */
let waiting: PromiseWithResolvers<void> | undefined;
const listeners = new Set<() => void>();

const tell = () => {
  for (const listener of listeners) listener();
};

/** Opens the sign-in dialog over the page, and waits for the sign-in. @throws the abort's own error */
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

/** Resumes the waiting requests. */
export function reportSignedIn(): void {
  waiting?.resolve();
  waiting = undefined;
  tell();
}

/** Gives up the requests that wait for the previous person to sign in again: another may have signed in. */
export function dropWaitingRequests(): void {
  waiting?.reject(new DOMException('Signed out', 'AbortError'));
  waiting = undefined;
  tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the sign-in dialog is open. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => waiting !== undefined);
}
