import { queryOptions } from '@tanstack/react-query';
import { get, type Page, pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { MOST_FAILING } from '../evaluations/queries.ts';
import { nameOf } from '../evaluations/result-text.ts';
import type { Result } from '../evaluations/types.ts';
import { type Cell, NOT_TRIED, type TriedScore } from './cells.ts';
import { newRow, type Row } from './pane-state.ts';
import { NEW_RUN } from './run.ts';

/** The API does not sort longer runs. */
const MOST_SORTED = 20_000;

/** The examples of an evaluation that do not reach its threshold, worst first. */
export const failingQuery = ({
  id,
  examples_total,
  example_threshold,
  threshold,
}: Pick<Evaluation, 'id' | 'examples_total' | 'example_threshold' | 'threshold'>) => {
  const needed = example_threshold ?? threshold;
  return queryOptions({
    queryKey: ['evaluations', 'failing', id],
    async queryFn({ signal }) {
      const sort = examples_total <= MOST_SORTED ? 'score' : undefined;
      const query = { limit: MOST_FAILING, max_score: needed, sort };
      const { data } = await get<Page<Result>>(`${pathOf('evaluations', id)}/results`, query, signal);
      // The bound is inclusive.
      return data.filter(({ score }) => score === null || score < needed);
    },
  });
};

export const rowOfResult = (evaluation: string, { seq, example_id, variables, expected }: Result): Row =>
  newRow({
    variables,
    expected: expected ?? undefined,
    result: { evaluation, seq, name: nameOf(example_id, seq) },
  });

/** The evaluators of an evaluation that can score a single output. */
export const triedOf = ({ evaluators }: Pick<Evaluation, 'evaluators'>) =>
  (evaluators as Evaluator[]).filter(({ type }) => !NOT_TRIED.includes(type));

/** The output and the scores of an evaluation, until the cell runs. */
export function cellOfResult({ output, tool_calls: toolCalls, error, score, scores, unscored }: Result): Cell {
  const given: TriedScore[] = Object.entries(scores ?? {}).map(([name, each]) => ({
    name,
    score: each.score,
    reason: each.reason,
    problem: null,
    cost: null,
  }));
  const missing: TriedScore[] = Object.entries(unscored ?? {}).map(([name, { reason }]) => ({
    name,
    score: null,
    reason,
    problem: reason ?? '',
    cost: null,
  }));
  return {
    run: {
      ...NEW_RUN,
      state: 'earlier',
      output: output ?? '',
      toolCalls,
      error: error === null ? undefined : new Error(`${error.code}: ${error.message}`),
    },
    turns: [],
    scoring: { isUnderWay: false, score, scores: [...given, ...missing], error: undefined },
  };
}
