import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { readEvents, send } from '../api.ts';

/** The stream of a hidden tab is closed: browsers open few connections to one service. */
const CLOSE_HIDDEN_AFTER_MS = 20_000;
const REOPEN_MS = 5_000;
/** Minimum interval for refetching what changes constantly. */
const REFETCH_MS = 2_000;

/** The first part of query keys for each type of resource, if it is not the plural. */
const RESOURCE_PATHS: Record<string, string> = { api_key: 'api-keys', score_definition: 'score-definitions' };

const pathOf = (resource: string) => RESOURCE_PATHS[resource] ?? `${resource}s`;

/**
 * The part that is refetched for resources with a constant flow of new entries: single records follow their own run, and executions and
 * traces enter their lists one by one.
 */
const PARTS: Record<string, string> = { executions: 'newest', traces: 'newest', evaluations: 'list' };

const isLongList = ({ state: { data } }: Query) => {
  const pages = (data as { pages?: unknown[] } | undefined)?.pages;
  return pages !== undefined && pages.length > 1;
};

/** Whether a query may be stale after a change under this path of the API, and refetching it does not disturb the user. */
function isAbout(query: Query, path: string): boolean {
  const [first, second] = query.queryKey;
  if (first === 'home') return second === `/${path}`;
  if (first !== path) return false;
  // Refetching a list of several pages would move it while the user reads.
  return (PARTS[path] ?? second) === second && !isLongList(query);
}

/** Refetches the displayed data of a type of resource, at most every 2 s. */
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

/** Follows the stream of changes until aborted. Data fetched before it started is refetched, as after each interruption. */
async function follow(client: QueryClient, note: (path: string) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await send('GET', '/changes', {
        headers: { Accept: 'text/event-stream' },
        signal,
        // Let the user's next action ask for a new sign-in, not this.
        waitsForSignIn: false,
      });
      await readEvents(response, ({ data }) => {
        const { resources } = data as { resources: string[] };
        if (resources.length > 0) for (const resource of resources) note(pathOf(resource));
        else void client.invalidateQueries();
      });
    } catch {
      // Pages also poll and report errors themselves.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
  }
}

/** Keeps a visible tab up to date through one event stream. */
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
