import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isSignedOut } from '../api.ts';
import { untilSignedIn } from '../session-ended.ts';
import { sessionQuery } from './session.ts';

export function createConsoleQueryClient(): QueryClient {
  /** Other requests wait on their own. The session query reports the end of the session, unless there was none. */
  const onError = (error: unknown) => {
    if (isSignedOut(error) && client.getQueryData(sessionQuery.queryKey) !== undefined) void untilSignedIn();
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // The banner reports when the service can't be reached, and everything is refetched when it can.
        networkMode: 'always',
        retry: (count, error) => error instanceof ApiError && error.code === 'temporarily_unavailable' && count < 2,
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
