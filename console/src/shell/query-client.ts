import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api.ts';

/** Whether the session has ended, or there was none: not whether it may not do something. */
export const isSignedOut = (error: unknown) =>
  error instanceof ApiError && error.status === 401 && error.code === 'unauthorized';

/** @param onSignedOut called when the API no longer takes the session */
export function createConsoleQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (!isSignedOut(error)) return;
    onSignedOut();
    client.clear();
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
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
