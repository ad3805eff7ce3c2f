import { queryOptions, useQuery } from '@tanstack/react-query';
import { SCOPES } from '../../../clients/typescript/src/generated/values.gen.ts';
import { call } from '../api.ts';
import type { OwnSession } from '../api-types.ts';
import { t } from '../strings.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<OwnSession>('GET', '/session', { signal, waitsForSignIn: false }),
  staleTime: 60_000,
});

export type Scope = (typeof SCOPES)[number];

/** The scopes that this console knows: a newer service may have more. */
export const knownScopes = (names: readonly string[]): Scope[] => SCOPES.filter((scope) => names.includes(scope));

/** What each scope allows. */
export const SCOPE_ALLOWS: Record<Scope, string> = {
  read: t('read everything but keys'),
  execute: t('run prompts and evaluations, schedules'),
  score: t('store scores, give feedback tokens'),
  write: t('change prompts, labels, datasets, webhooks'),
  publish: t('move protected labels'),
  admin: t('everything, keys and the audit log too'),
  ingest: t('store traces and recorded executions'),
};

export function useSession(): OwnSession | undefined {
  return useQuery(sessionQuery).data;
}

/** Whether the key of this session has a scope. */
export function useMay(scope: Scope): boolean {
  const scopes: readonly string[] = useSession()?.key.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('admin');
}
