import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get, type Query } from '../../api.ts';
import type { ExecutionFacets } from '../../api-types.ts';

const REFETCH_MS = 30_000;

/** Executions counted by facet. While new counts load, the previous ones stay, so that nothing jumps. */
export const facetsQuery = (query: Query) =>
  queryOptions({
    queryKey: ['executions', 'facets', query],
    queryFn: ({ signal }) => get<ExecutionFacets>('/executions/facets', query, signal),
    refetchInterval: REFETCH_MS,
    placeholderData: keepPreviousData,
  });
