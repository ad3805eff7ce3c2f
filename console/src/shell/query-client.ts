import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isSignedOut } from '../api.ts';
import { untilSignedIn } from '../session-ended.ts';
import { sessionQuery } from './session.ts';

export function createConsoleQueryClient(): QueryClient {
  /** Other requests wait by themselves. The one that asks for the session tells of its end, unless there was none to begin with. */
  const onError = (error: unknown) => {
    if (isSignedOut(error) && client.getQueryData(sessionQuery.queryKey) !== undefined) void untilSignedIn();
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // The banner says when the service can't be reached, and everything is read again when it can.
        networkMode: 'always',
        retry: (count, error) => error instanceof ApiError && error.code === 'temporarily_unavailable' && count < 2,
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
