import { queryOptions } from '@tanstack/react-query';
import { recordQuery } from '../../queries.ts';
import type { Queue } from './types.ts';

/** Others work on a queue, too. */
export const REFETCH_MS = 15_000;

export const queueQuery = (name: string) =>
  queryOptions({
    ...recordQuery<Queue>('queues', name),
    refetchInterval: REFETCH_MS,
  });
