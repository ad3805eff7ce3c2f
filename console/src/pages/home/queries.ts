import { queryOptions, useQuery } from '@tanstack/react-query';
import { get, type Page, type Query } from '../../api.ts';
import type { Evaluation, ListedPrompt, PromptStatistics } from '../../api-types.ts';
import type { Monitor } from '../monitors/types.ts';
import type { Queue } from '../queues/types.ts';
import type { Release } from '../releases/types.ts';
import { total, type Usage } from '../usage/sums.ts';
import type { Webhook } from '../webhooks/types.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Refetch interval while the page is visible. */
const REFETCH_MS = 30_000;
const MOST = 100;

/** A day ago, at a full hour: usage is summed by hour, and the query stays the same within one. */
export const yesterday = (daysBefore = 0) =>
  new Date(Math.floor((Date.now() - DAY_MS) / HOUR_MS) * HOUR_MS - daysBefore * DAY_MS).toISOString();

const page = <Item>(path: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['home', path, query],
    queryFn: async ({ signal }) => (await get<Page<Item>>(path, { limit: MOST, ...query }, signal)).data,
    refetchInterval: REFETCH_MS,
  });

const usage = (since: string, until?: string) =>
  queryOptions({
    queryKey: ['home', 'usage', since, until],
    queryFn: async ({ signal }) => total(await get<Usage>('/usage', { since, until, group_by: 'day' }, signal)),
    refetchInterval: REFETCH_MS,
  });

/** Everything that the page shows; each part is undefined until loaded, or if the session may not read it. */
export function useHome() {
  const since = yesterday();
  return {
    prompts: useQuery(page<ListedPrompt>('/prompts')),
    datasets: useQuery(page<{ name: string }>('/datasets')),
    evaluations: useQuery(page<Evaluation>('/evaluations')),
    executions: useQuery(page<{ id: string }>('/executions', { limit: 1 })),
    releases: useQuery(page<Release>('/releases')),
    monitors: useQuery(page<Monitor>('/monitors')),
    webhooks: useQuery(page<Webhook>('/webhooks')),
    queues: useQuery(page<Queue>('/queues')),
    statistics: useQuery(page<PromptStatistics>('/statistics/prompts', { since, limit: 1_000 })),
    usage: useQuery(usage(since)),
    usageBefore: useQuery(usage(yesterday(1), since)),
  };
}

export type Home = ReturnType<typeof useHome>;
