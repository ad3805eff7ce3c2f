import { queryOptions } from '@tanstack/react-query';
import { get, pathOf } from '../../api.ts';
import type { Queue } from './types.ts';

/** Others work on a queue, too. */
export const REFETCH_MS = 15_000;

export const queueQuery = (name: string) =>
  queryOptions({
    queryKey: ['queues', 'one', name],
    queryFn: ({ signal }) => get<Queue>(pathOf('queues', name), undefined, signal),
    refetchInterval: REFETCH_MS,
  });
