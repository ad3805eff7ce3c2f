import { useSyncExternalStore } from 'react';

type Connection = 'there' | 'lost';

let current: Connection = 'there';
const listeners = new Set<() => void>();

/** Reports whether the last request got any response. */
export function reportConnection(connection: Connection): void {
  if (connection === current) return;
  current = connection;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => current);
}
