import { z } from 'zod';
import { MAX_PAGE_BYTES } from '../../db/read-page.ts';
import { invalidField } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';
import { defineRoute, RawResponse, type Route } from '../../http/route.ts';
import { getEvaluation } from '../../services/evaluations/evaluations.ts';
import { compareEvaluations, metadataKeysOf } from '../../services/evaluations/results/compare-evaluations.ts';
import {
  EXAMINED_RESULTS,
  eachResultPage,
  examinesMany,
  getResult,
  listResults,
  listSortedResults,
  MAX_SORTED,
  type ResultFilter,
  type ResultPosition,
  type ResultSort,
  summarizeResults,
} from '../../services/evaluations/results/results.ts';
import { readExampleInput } from '../../services/evaluations/run/example-input.ts';
import { scoreNamesOf, scoresOf, valuesOfExamples } from '../../services/scores/scores.ts';
import { presentScore } from '../scores/presenter.ts';
import { CompareParams, CompareQuery, EvaluationComparison } from './compare-schema.ts';
import { presentResult } from './presenter.ts';
import { resultsAsCsv } from './results-csv.ts';
import {
  ExampleInput,
  Result,
  ResultPage,
  ResultParams,
  ResultsQuery,
  ResultsSummary,
  SummaryQuery,
  toMetadata,
} from './results-schema.ts';
import { COMPARISON_SAMPLE, RESULT_SAMPLE, SUMMARY_SAMPLE } from './samples.ts';
import { EvaluationParams } from './schema.ts';

const tag = 'Evaluations';

/** @throws ApiError `invalid_request` if the run has no such evaluator */
function toFilter(
  { evaluator, min_score, max_score, example_id, q, ...rest }: z.output<typeof SummaryQuery>,
  names: readonly string[],
): ResultFilter {
  if (evaluator !== undefined && !names.includes(evaluator))
    throw invalidField('evaluator', `must be an evaluator of this evaluation: ${names.join(', ')}`);
  const { regression, improvement, failed } = rest;
  return {
    regression,
    improvement,
    failed,
    evaluator,
    minScore: min_score,
    maxScore: max_score,
    exampleId: example_id,
    text: q,
    metadata: toMetadata(rest),
  };
}

/** The `seq` of a result; in a sorted list, preceded by the sort value. */
const positionIn = (sort: ResultSort | undefined) =>
  z.string().regex(sort === undefined ? /^\d{1,9}$/ : new RegExp(`^${sort}:-?\\d+(\\.\\d+)?(e[+-]?\\d+)?:\\d{1,9}$`));

function toPosition(cursor: string | undefined, sort: ResultSort | undefined): ResultPosition | undefined {
  const text = decodeCursor(cursor, positionIn(sort));
  if (text === undefined) return undefined;
  const [seq = '', value] = text.split(':').toReversed();
  return { seq: Number(seq), value: value === undefined ? undefined : Number(value) };
}

const toCursor = ({ seq, value }: ResultPosition, sort: ResultSort | undefined) =>
  encodeCursor(sort === undefined ? String(seq) : `${sort}:${value}:${seq}`);

/** Scanning all results of a run takes some seconds if their texts are long. */
const SORT_TIMEOUT_MS = 30_000;

/** The results of an evaluation and their differences from another evaluation. */
export function evaluationResultsRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results',
      operationId: 'listEvaluationResults',
      tag,
      summary: 'List the results of the examples',
      description:
        'Filters can be combined. Only flags set to true are indexed. With any other filter, a page examines at most ' +
        `${EXAMINED_RESULTS.toLocaleString('en-US')} results, and may hold fewer than its limit, or none, and still have a \`next_cursor\`.`,
      scope: 'read',
      params: EvaluationParams,
      query: ResultsQuery,
      response: ResultPage,
      responseExample: { data: [RESULT_SAMPLE], next_cursor: null },
      otherContentTypes: ['text/csv'],
      async handler({ db, params, query: { limit, cursor, format, sort, ...query } }) {
        const run = await getEvaluation(db.query, params.id);
        const names = run.evaluators.map(({ name }) => name);
        const filter = toFilter(query, names);
        const after = toPosition(cursor, sort);
        if (format === 'csv') {
          const { query: heavy } = db.heavy;
          const csv = resultsAsCsv(eachResultPage(heavy, run.id, filter), names, {
            names: await scoreNamesOf(heavy, run.id),
            valuesOf: (keys) => valuesOfExamples(heavy, run.id, keys),
          });
          return new RawResponse('text/csv', csv, {
            'Content-Disposition': `attachment; filename="${publicId('evaluation', run.id)}.csv"`,
          });
        }
        if (sort !== undefined && run.examples_total > MAX_SORTED)
          throw invalidField('sort', `is for runs of at most ${MAX_SORTED.toLocaleString('en-US')} examples: omit it`);
        const { rows, next } =
          sort === undefined
            ? await listResults(examinesMany(filter) ? db.heavy.query : db.query, run.id, filter, limit, after)
            : await db.heavy.transaction((heavy) => listSortedResults(heavy, run.id, filter, sort, limit, after), {
                statementTimeoutMs: SORT_TIMEOUT_MS,
              });
        return { data: rows.map(presentResult), next_cursor: next === undefined ? null : toCursor(next, sort) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results/summary',
      operationId: 'summarizeEvaluationResults',
      tag,
      summary: 'Summarize the results that match the filters',
      description: 'The filters are those of `GET /evaluations/{id}/results`.',
      scope: 'read',
      params: EvaluationParams,
      query: SummaryQuery,
      response: ResultsSummary,
      responseExample: SUMMARY_SAMPLE,
      async handler({ db, params, query }) {
        const run = await getEvaluation(db.query, params.id);
        const names = run.evaluators.map(({ name }) => name);
        const filter = toFilter(query, names);
        const passesFrom = run.example_threshold ?? run.threshold;
        const { tenths, means, missing, cost, p50_ms, p95_ms, ...summary } = await db.heavy.transaction(
          (heavy) => summarizeResults(heavy, run.id, filter, { names, passesFrom }),
          { statementTimeoutMs: SORT_TIMEOUT_MS },
        );
        return {
          ...summary,
          histogram: tenths,
          by_evaluator: Object.fromEntries(names.map((name, index) => [name, means[index] ?? null])),
          unscored_by_evaluator: Object.fromEntries(names.map((name, index) => [name, missing[index] ?? 0])),
          cost: { amount: cost, currency: 'USD' as const },
          latency: { p50_ms, p95_ms },
        };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results/{seq}',
      operationId: 'getEvaluationResult',
      tag,
      summary: 'Retrieve the result of one example',
      scope: 'read',
      params: ResultParams,
      response: Result,
      responseExample: RESULT_SAMPLE,
      async handler(request) {
        const { db, params } = request;
        const run = await getEvaluation(db.query, params.id);
        await request.reserve(MAX_PAGE_BYTES);
        const row = await getResult(db.query, run.id, params.seq);
        const scores = await scoresOf(db.query, { evaluationId: run.id, exampleId: row.example_key });
        return scores.length === 0
          ? presentResult(row)
          : { ...presentResult(row), stored_scores: scores.map(presentScore) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results/{seq}/input',
      operationId: 'getEvaluationInput',
      tag,
      summary: 'Retrieve the model input of one example',
      description: 'The prompt as pinned by the run, including its includes, filled with the variables of the example.',
      scope: 'read',
      params: ResultParams,
      response: ExampleInput,
      responseExample: { input: 'Say hello to Ada.' },
      async handler({ db, params }) {
        const run = await getEvaluation(db.query, params.id);
        return { input: await readExampleInput(db.query, run.id, params.seq) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/compare/{other}',
      operationId: 'compareEvaluations',
      tag,
      summary: 'Compare an evaluation with an earlier one',
      description:
        '`{other}` is the earlier run (`a` in the response), `{id}` the later one (`b`): a regression is an example that scores ' +
        'lower in `{id}`. Filters apply to everything, including the verdict. The interval and the verdict separate noise from a real difference.',
      scope: 'read',
      params: CompareParams,
      query: CompareQuery,
      response: EvaluationComparison,
      responseExample: COMPARISON_SAMPLE,
      errors: ['invalid_state'],
      async handler({ db, params, query: { group_by: groupBy, evaluator, unchanged, limit, ...rest } }) {
        const options = { evaluator, unchanged, limit, groupBy, metadata: toMetadata(rest) };
        const comparison = await compareEvaluations(db, params.other, params.id, options);
        return { ...comparison, metadata_keys: await metadataKeysOf(db.query, params.id) };
      },
    }),
  ];
}
