import { queryOptions } from '@tanstack/react-query';
import { get, type Page, pathOf } from '../../api.ts';
import type { Dataset, Evaluation } from '../../api-types.ts';
import type { Comparison, Result } from './types.ts';

const PAGE = 1_000;

export const hasEnded = ({ status }: Pick<Evaluation, 'status'>) =>
  status === 'completed' || status === 'failed' || status === 'canceled';

export const evaluationKey = (id: string) => ['evaluations', 'one', id] as const;

export const evaluationQuery = (id: string) =>
  queryOptions({
    queryKey: evaluationKey(id),
    queryFn: ({ signal }) => get<Evaluation>(pathOf('evaluations', id), undefined, signal),
  });

/** What changed from `other`, the run before, to `id`. */
export const comparisonQuery = (id: string, other: string) =>
  queryOptions({
    queryKey: ['evaluations', 'comparison', id, other],
    queryFn: ({ signal }) => get<Comparison>(`${pathOf('evaluations', id)}/compare${pathOf(other)}`, undefined, signal),
    staleTime: 300_000,
  });

/** The result of one example. The API lists results and has none by itself: it is looked for, page after page. Null: there is none. */
export const resultQuery = (id: string, exampleId: string) =>
  queryOptions({
    queryKey: ['evaluations', 'result', id, exampleId],
    async queryFn({ signal }) {
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page<Result> = await get(`${pathOf('evaluations', id)}/results`, { limit: PAGE, cursor }, signal);
        const found = page.data.find((result) => result.example_id === exampleId);
        if (found !== undefined) return found;
        cursor = page.next_cursor;
      }
      return null;
    },
    staleTime: 60_000,
  });

export const datasetNamesQuery = queryOptions({
  queryKey: ['datasets', 'names'],
  queryFn: ({ signal }) => get<Page<Dataset>>('/datasets', { limit: PAGE }, signal),
});
