import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { ApiError, get, type Page, pathOf, type Query } from './api.ts';
import type {
  Evaluation,
  Execution,
  LabelRecord,
  ListedPrompt,
  Me,
  Member,
  Prompt,
  PromptSeries,
  PromptStatistics,
  Provider,
} from './api-types.ts';

// Queries shared by several pages. The first part of a key is the resource, so that a change can tell what to refetch.

export const hasEnded = (status: string) => ['completed', 'failed', 'canceled'].includes(status);

/** A list of the API, page after page. */
export const listQuery = <Item>(path: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [path.split('/')[1], 'list', path, query],
    queryFn: ({ pageParam, signal }) => get<Page<Item>>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

/**
 * The items of a list so far, and how to get more: `loadMore` does nothing if there is no more, or while loading. Empty pages other than
 * the last are skipped.
 * @param refetchMs refetches the list at this interval while it is visible and has only one page
 * @param keepPrevious shows the result of the previous query until the new one has loaded
 */
export function useList<Item>(
  path: string,
  query: Query = {},
  { refetchMs, keepPrevious = false }: { refetchMs?: number; keepPrevious?: boolean } = {},
) {
  const result = useInfiniteQuery({
    ...listQuery<Item>(path, query),
    ...(keepPrevious && { placeholderData: keepPreviousData }),
    // With several pages, all would be refetched, which would disturb reading.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? (refetchMs ?? false) : false),
  });
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = result;
  const items = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isSearching = items?.length === 0 && hasNextPage;
  useEffect(() => {
    if (isSearching && !isFetchNextPageError) loadMore();
  }, [isSearching, isFetchNextPageError, loadMore]);
  return {
    data: isSearching ? undefined : items,
    error: result.error,
    refetch: result.refetch,
    hasMore: hasNextPage,
    loadMore,
  };
}

/** Refetches a list, all of its pages, at this interval while something in it is in progress. */
export function useRefetchWhileLive<Item>(
  { data, refetch }: Pick<ReturnType<typeof useList<Item>>, 'data' | 'refetch'>,
  isLive: (item: Item) => boolean,
  everyMs: number,
): void {
  const hasLive = data?.some(isLive) ?? false;
  useEffect(() => {
    if (!hasLive) return;
    const timer = setInterval(() => void refetch(), everyMs);
    return () => clearInterval(timer);
  }, [hasLive, refetch, everyMs]);
}

/** One record, by the first segment of its path and its name or id. */
export const recordQuery = <Record>(resource: string, id: string) =>
  queryOptions({
    queryKey: [resource, 'one', id],
    queryFn: ({ signal }) => get<Record>(pathOf(resource, id), undefined, signal),
  });

export const promptQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ['prompts', 'one', name, version ?? 'latest'],
    queryFn: ({ signal }) => get<Prompt>(pathOf('prompts', name), { version }, signal),
  });

/** The labels of a prompt, with their versions. */
export const promptLabelsQuery = (name: string) =>
  queryOptions({
    queryKey: ['prompts', 'labels', name],
    queryFn: async ({ signal }) => {
      const { data } = await get<Page<{ label: string; version: number }>>(
        pathOf('prompts', name, 'labels'),
        undefined,
        signal,
      );
      return data;
    },
  });

/** The first prompts that include one, in their latest version or in a labeled one. */
export const includedByQuery = (name: string) =>
  queryOptions({
    queryKey: ['prompts', 'including', name],
    queryFn: ({ signal }) => get<Page<ListedPrompt>>('/prompts', { includes: name, limit: 10 }, signal),
  });

export const executionQuery = (id: string) =>
  queryOptions({
    ...recordQuery<Execution>('executions', id),
    refetchInterval: ({ state }) => (state.data && !hasEnded(state.data.status) ? 1_500 : false),
  });

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => get<Page<Provider>>('/providers', undefined, signal),
  staleTime: 300_000,
});

/** The current user, and the permissions of the session. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => get<Me>('/me', undefined, signal),
});

export const memberQuery = (id: string) => queryOptions({ ...recordQuery<Member>('members', id), staleTime: 300_000 });

export const labelsQuery = queryOptions({
  queryKey: ['labels'],
  queryFn: ({ signal }) => get<Page<LabelRecord>>('/labels', { limit: 1000 }, signal),
});

/**
 * Statistics by prompt name, over the last seven days unless `query` says otherwise. They are loaded page by page: a prompt that is not
 * in the map has none yet.
 */
export function useStatistics(query: Query = {}): ReadonlyMap<string, PromptStatistics> {
  const { data, loadMore, error } = useList<PromptStatistics>('/statistics/prompts', { limit: 1000, ...query });
  useEffect(() => {
    if (error === null) loadMore();
  }, [error, loadMore]);
  return useMemo(() => new Map((data ?? []).map((each) => [each.prompt_name, each])), [data]);
}

export const seriesQuery = (name: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['statistics', 'series', name, query],
    queryFn: ({ signal }) => get<PromptSeries>(pathOf('statistics', 'prompts', name), query, signal),
  });

/** The newest completed evaluation of each version of a prompt. */
export const versionScoresQuery = (name: string) =>
  queryOptions({
    queryKey: ['evaluations', 'by-version', name],
    queryFn: async ({ signal }) => {
      const { data } = await get<Page<Evaluation>>('/evaluations', { prompt_name: name, status: 'completed' }, signal);
      const newest = new Map<number, Evaluation>();
      for (const each of data)
        if (each.prompt_version !== 0 && !newest.has(each.prompt_version)) newest.set(each.prompt_version, each);
      return newest;
    },
  });

export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404;

/** Stores the latest data from the service. Older responses still in flight are discarded. */
export function replaceData(client: QueryClient, queryKey: QueryKey, data: unknown): void {
  void client.cancelQueries({ queryKey, exact: true });
  client.setQueryData(queryKey, data);
}

/** The resource at a path; null if there is none. */
export async function getIfThere<Result>(path: string, query?: Query, signal?: AbortSignal): Promise<Result | null> {
  try {
    return await get<Result>(path, query, signal);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** @throws Error with this text if the path already exists, which `PUT` would replace */
export async function requireNew(path: string, taken: string): Promise<void> {
  if ((await getIfThere(path)) !== null) throw new Error(taken);
}
