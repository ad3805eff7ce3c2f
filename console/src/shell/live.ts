import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { readEvents, send } from '../api.ts';

/** A stream of a tab that nobody looks at is closed: browsers open few connections to one service. */
const CLOSE_HIDDEN_AFTER_MS = 20_000;
const REOPEN_MS = 5_000;
/** What changes all the time is read again so often. */
const REFETCH_MS = 2_000;

/** The first part of the keys of what is shown of each type of resource, where it differs from the plural. */
const RESOURCE_PATHS: Record<string, string> = { api_key: 'api-keys', score_definition: 'score-definitions' };

const pathOf = (resource: string) => RESOURCE_PATHS[resource] ?? `${resource}s`;

/** What is read again of those of which there are always new ones: what is shown by itself follows its own run, and executions come into their list one by one. */
const PARTS: Record<string, string> = { executions: 'newest', evaluations: 'list' };

const isLongList = ({ state: { data } }: Query) => {
  const pages = (data as { pages?: unknown[] } | undefined)?.pages;
  return pages !== undefined && pages.length > 1;
};

/** Whether what a query has read may be another since something changed under this path of the API, and nobody is disturbed by the new. */
function isAbout(query: Query, path: string): boolean {
  const [first, second] = query.queryKey;
  if (first === 'home') return second === `/${path}`;
  if (first !== path) return false;
  // Whoever reads on in a list of several pages would see it move.
  return (PARTS[path] ?? second) === second && !isLongList(query);
}

/** Reads again what is shown of a type of resource, at most every 2 s. */
function createRefetcher(client: QueryClient) {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const due = new Set<string>();
  const refetch = (path: string) => {
    due.delete(path);
    void client.invalidateQueries({ predicate: (query) => isAbout(query, path) });
    timers.set(
      path,
      setTimeout(() => {
        timers.delete(path);
        if (due.has(path)) refetch(path);
      }, REFETCH_MS),
    );
  };
  return {
    note(path: string) {
      if (timers.has(path)) due.add(path);
      else refetch(path);
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** Follows the stream of changes until it is aborted. What was read before it began is read again, as after each interruption. */
async function follow(client: QueryClient, note: (path: string) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await send('GET', '/changes', {
        headers: { Accept: 'text/event-stream' },
        signal,
        // Whoever types is asked to sign in again by what they do next, not by this.
        waitsForSignIn: false,
      });
      await readEvents(response, ({ data }) => {
        const { resources } = data as { resources: string[] };
        if (resources.length > 0) for (const resource of resources) note(pathOf(resource));
        else void client.invalidateQueries();
      });
    } catch {
      // Pages ask by themselves now and then, too, and say what is wrong.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
  }
}

/** Keeps what the tab shows as it is in the service, by one stream of events while somebody looks at the tab. */
export function useLiveUpdates(): void {
  const client = useQueryClient();
  useEffect(() => {
    const refetcher = createRefetcher(client);
    let following: AbortController | undefined;
    let closing: ReturnType<typeof setTimeout> | undefined;
    const close = () => {
      following?.abort();
      following = undefined;
    };
    const look = () => {
      clearTimeout(closing);
      if (document.visibilityState === 'hidden') {
        closing = setTimeout(close, CLOSE_HIDDEN_AFTER_MS);
        return;
      }
      if (following !== undefined) return;
      following = new AbortController();
      void follow(client, (path) => refetcher.note(path), following.signal);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      clearTimeout(closing);
      close();
      refetcher.stop();
    };
  }, [client]);
}
