import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import type { OwnSession } from '../api-types.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<OwnSession>('GET', '/session', { signal, waitsForSignIn: false }),
  staleTime: 60_000,
});

export type Scope = 'read' | 'execute' | 'score' | 'write' | 'publish' | 'admin';

export function useSession(): OwnSession | undefined {
  return useQuery(sessionQuery).data;
}

/** Whether the key of this session may do what needs this scope. */
export function useMay(scope: Scope): boolean {
  const scopes: readonly string[] = useSession()?.key.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('admin');
}
