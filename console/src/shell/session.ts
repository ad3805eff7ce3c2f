import { queryOptions, useQuery } from '@tanstack/react-query';
import { get } from '../api.ts';
import type { Session } from '../api-types.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => get<Session>('/session', undefined, signal),
  staleTime: 60_000,
});

export type Scope = 'read' | 'execute' | 'write' | 'publish' | 'admin';

export function useSession(): Session | undefined {
  return useQuery(sessionQuery).data;
}

/** Whether the key of this session may do what needs this scope. */
export function useMay(scope: Scope): boolean {
  const scopes: readonly string[] = useSession()?.key.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('admin');
}
