import { queryOptions } from '@tanstack/react-query';
import { get, type Page, pathOf } from '../../api.ts';
import type { Dataset, Evaluation } from '../../api-types.ts';
import { isNotFound } from '../../queries.ts';
import type { SavedEvaluator } from '../saved-evaluators/types.ts';
import type { EvaluatorType } from './evaluator.ts';
import type { Comparison, ExampleInput, Result, ResultsSummary } from './types.ts';

const PAGE = 1_000;

/** Results per request. */
export const RESULTS_PAGE = 1_000;

/** Maximum number of failing examples that the playground opens with. */
export const MOST_FAILING = 20;

export const hasEnded = ({ status }: Pick<Evaluation, 'status'>) =>
  status === 'completed' || status === 'failed' || status === 'canceled';

export const evaluationKey = (id: string) => ['evaluations', 'one', id] as const;

export const evaluationQuery = (id: string) =>
  queryOptions({
    queryKey: evaluationKey(id),
    queryFn: ({ signal }) => get<Evaluation>(pathOf('evaluations', id), undefined, signal),
  });

/** Maximum examples of each kind that a comparison lists: filters narrow them down. */
const LISTED = 1_000;

/** The filters of a comparison. */
export interface ComparisonFilter {
  evaluator?: string | undefined;
  /** A metadata key whose values are compared separately. */
  by?: string | undefined;
  /** Only examples with this value of the metadata key. */
  value?: string | undefined;
  unchanged?: boolean | undefined;
}

/** The changes from `other`, the earlier run, to `id`. */
export const comparisonQuery = (id: string, other: string, filter: ComparisonFilter = {}) =>
  queryOptions({
    queryKey: ['evaluations', 'comparison', id, other, filter],
    queryFn: ({ signal }) => {
      const { evaluator, by, value, unchanged } = filter;
      const narrowed = value === undefined ? { group_by: by } : { metadata_key: by, metadata_value: value };
      return get<Comparison>(
        `${pathOf('evaluations', id)}/compare${pathOf(other)}`,
        { evaluator, ...narrowed, limit: LISTED, unchanged: unchanged || undefined },
        signal,
      );
    },
    staleTime: 300_000,
  });

/** The types of evaluators, which change only with the service. */
export const evaluatorTypesQuery = queryOptions({
  queryKey: ['evaluators'],
  queryFn: ({ signal }) => get<Page<EvaluatorType>>('/evaluators', undefined, signal),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The newest versions of the saved evaluators. */
export const savedEvaluatorsQuery = queryOptions({
  queryKey: ['saved-evaluators', 'all'],
  queryFn: ({ signal }) => get<Page<SavedEvaluator>>('/saved-evaluators', { limit: 200 }, signal),
});

/** Result filters in API format. */
export type ResultFilter = Record<string, string | number | boolean | undefined>;

/** The totals of filtered results. */
export const summaryQuery = (id: string, filter: ResultFilter) =>
  queryOptions({
    queryKey: ['evaluations', 'summary', id, filter],
    queryFn: ({ signal }) => get<ResultsSummary>(`${pathOf('evaluations', id)}/results/summary`, filter, signal),
    placeholderData: (before, query) => (query?.queryKey[2] === id ? before : undefined),
  });

const resultPath = (id: string, seq: number) => pathOf('evaluations', id, 'results', seq);

/** The result of one example. */
export const resultQuery = (id: string, seq: number) =>
  queryOptions({
    queryKey: ['evaluations', 'result', id, seq],
    queryFn: ({ signal }) => get<Result>(resultPath(id, seq), undefined, signal),
    staleTime: 60_000,
  });

/** The model input for one example. */
export const inputQuery = (id: string, seq: number) =>
  queryOptions({
    queryKey: ['evaluations', 'input', id, seq],
    queryFn: ({ signal }) => get<ExampleInput>(`${resultPath(id, seq)}/input`, undefined, signal),
    staleTime: 300_000,
  });

/** The result of a run for the example that another run has at `seq`. Null if it does not have the example. */
export const sameExampleQuery = (id: string, { seq, example_id }: Pick<Result, 'seq' | 'example_id'>) =>
  queryOptions({
    queryKey: ['evaluations', 'result', id, seq, example_id],
    async queryFn({ signal }) {
      // If both runs have the same examples, its position is the same.
      const there = await get<Result>(resultPath(id, seq), undefined, signal).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (there?.example_id === example_id) return there;
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page<Result> = await get(`${pathOf('evaluations', id)}/results`, { example_id, cursor }, signal);
        const [found] = page.data;
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
