import { type Expression, type InferResult, type SqlBool, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type GivenColumns, selectPage } from '../../../db/read-page.ts';
import { isBehind, readSort, type Sort } from '../../../db/sort.ts';
import { containing, given } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import type { Builder } from '../../../db/statement.ts';
import { notFound } from '../../../domain/errors.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { CONTENT_KEY_PREFIX } from '../../../domain/evaluations/example.ts';
import { SCORE_EPSILON } from '../../../domain/evaluations/scoring.ts';
import { isMiscompared } from '../same-evaluators.ts';

/** The maximum number of results that a page with an unindexed filter examines, so that rare matches do not take longer. */
export const EXAMINED_RESULTS = 5_000;
/** The maximum total size of the texts that a page of a text search examines. */
const SEARCHED_BYTES = 16 * 1024 * 1024;
/** Runs with more examples can't be sorted, because each page examines all results. */
export const MAX_SORTED = 20_000;

export const RESULT_SORTS = ['score', 'change', 'cost', 'latency'] as const;

type SortName = (typeof RESULT_SORTS)[number];

/** The order of results; with a minus, the greatest come first. Missing values count as the smallest. */
export type ResultSort = Sort<SortName>;

/** The position where a page ended. */
export interface ResultPosition {
  seq: number;
  /** For sorted lists: the value of the last result. */
  value?: number | undefined;
}

export interface ResultFilter {
  regression?: boolean | undefined;
  improvement?: boolean | undefined;
  failed?: boolean | undefined;
  exampleId?: string | undefined;
  /** The evaluator whose score `minScore` and `maxScore` limit. Default: the score of the example. */
  evaluator?: string | undefined;
  /** From 0 to 1, inclusive. A result without such a score is in no range. */
  minScore?: number | undefined;
  maxScore?: number | undefined;
  /** A text in the example's id, the value of a variable, the expected output or the output, ignoring case. */
  text?: string | undefined;
  /** A value of the example's metadata, as text. */
  metadata?: { key: string; value: string } | undefined;
}

/** Results in the order of the examples, unless they are sorted. */
export interface ResultPage {
  rows: ResultRow[];
  /** The remaining results come after it. Undefined if none remain. */
  next: ResultPosition | undefined;
}

/** For a run that was compared only with its threshold, only results below it are marked. */
const markOf = (column: 'r.regression' | 'r.improvement') =>
  sql<boolean | null>`case when not ${isMiscompared('e')} then coalesce(${sql.ref(column)},
    case when ${inStates(evaluationStates, ['completed'], 'e')} and ${sql.ref('e.baseline_id')} is null then false end) end`;

const resultsOf = (db: Builder, evaluationId: string) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .where('e.id', '=', evaluationId);

/** Unknown if the cost of any call is unknown. */
const knownCost = sql<string | null>`case when r.assumed_cost is null then r.cost_amount end`;

const selectResults = (db: Builder, evaluationId: string) =>
  resultsOf(db, evaluationId)
    .select(['r.seq', 'r.example_key', 'r.status', 'r.output', 'r.finish_reason', 'r.model', 'r.reused_from'])
    .select(['r.scores', 'r.score', 'r.error', 'r.attempts'])
    .select(
      sql<number | null>`case when not ${isMiscompared('e')} then ${sql.ref('r.baseline_score')} end`.as(
        'baseline_score',
      ),
    )
    .select([markOf('r.regression').as('regression'), markOf('r.improvement').as('improvement')])
    .select(['r.tokens_input', 'r.tokens_output', 'r.tokens_cached_input', 'r.tokens_reasoning'])
    .select(['r.tokens_unknown', 'r.notes', 'r.model_ms'])
    .select(knownCost.as('cost_amount'));

/** A result with its JSON as text, which is passed on unchanged. */
const selectResult = (db: Builder, evaluationId: string, seq: number) =>
  selectResults(db, evaluationId)
    .select(sql<string>`${sql.ref('r.variables')}::text`.as('variables'))
    .select(sql<string | null>`${sql.ref('r.expected')}::text`.as('expected'))
    .select(sql<string | null>`${sql.ref('r.tool_calls')}::text`.as('tool_calls'))
    .where('r.seq', '=', seq);

/** A result as read for callers. */
export type ResultRow = InferResult<ReturnType<typeof selectResult>>[number];

/** The same columns for the rows of a page. */
const GIVEN: GivenColumns<ResultRow> = {
  columns: [
    'seq',
    'example_key',
    'status',
    'output',
    'finish_reason',
    'model',
    'reused_from',
    'scores',
    'score',
    'baseline_score',
    'error',
    'attempts',
    'regression',
    'improvement',
    'tokens_input',
    'tokens_output',
    'tokens_cached_input',
    'tokens_reasoning',
    'tokens_unknown',
    'notes',
    'model_ms',
    'cost_amount',
    'variables',
    'expected',
    'tool_calls',
  ],
  texts: new Set(['variables', 'expected', 'tool_calls']),
};
const SORTED: GivenColumns<ResultRow & { sort_value: number }> = {
  columns: [...GIVEN.columns, 'sort_value'],
  texts: GIVEN.texts,
};

/** The score of an example, or that of one evaluator. */
const scoreOf = (evaluator: string | undefined) =>
  evaluator === undefined
    ? sql<number | null>`${sql.ref('r.score')}`
    : sql<number | null>`(${sql.ref('r.scores')} -> ${evaluator}::text ->> 'score')::float8`;

/** The score as counted in means: 0 if the example failed, null if it has no score. */
const countedScoreOf = (evaluator: string | undefined) =>
  sql<number | null>`(case when ${sql.ref('r.status')} = 'failed' then 0 else ${scoreOf(evaluator)} end)`;

function contains(text: string): Expression<SqlBool> {
  const pattern = containing(text);
  const values = sql`jsonb_build_array(${sql.ref('r.variables')}, ${sql.ref('r.expected')})`;
  return sql<SqlBool>`(${sql.ref('r.output')} ilike ${pattern}
    or (${sql.ref('r.example_key')} ilike ${pattern} and not starts_with(${sql.ref('r.example_key')}, ${CONTENT_KEY_PREFIX}))
    or exists (select from jsonb_path_query(${values}, 'strict $.** ? (@.type() == "string" || @.type() == "number")') as value
      where value #>> '{}' ilike ${pattern}))`;
}

/** The results of examples whose metadata has a value. */
function hasMetadata(db: Builder, { key, value }: { key: string; value: string }): Expression<SqlBool> {
  const example = db
    .selectFrom('dataset_examples as d')
    .select('d.seq')
    .where(sql<SqlBool>`${sql.ref('d.dataset_version_id')} = ${sql.ref('e.examples_id')}`)
    .where(sql<SqlBool>`${sql.ref('d.seq')} = ${sql.ref('r.seq')}`)
    .where(sql<SqlBool>`${sql.ref('d.metadata')} ->> ${key}::text = ${value}`);
  return sql<SqlBool>`exists ${example}`;
}

/** The conditions of a filter: `indexed` has a partial index of exactly its results; the `others` are checked on those. */
function conditionsOf({
  regression,
  improvement,
  failed,
  exampleId,
  evaluator,
  minScore,
  maxScore,
  text,
}: ResultFilter) {
  const flags: [is: Expression<SqlBool>, wanted: boolean | undefined][] = [
    [sql<SqlBool>`${sql.ref('r.regression')} and not ${isMiscompared('e')}`, regression],
    [sql<SqlBool>`${sql.ref('r.improvement')} and not ${isMiscompared('e')}`, improvement],
    [sql<SqlBool>`${sql.ref('r.status')} = 'failed'`, failed],
  ];
  const [indexed, ...marked] = flags.filter(([, wanted]) => wanted === true).map(([is]) => is);
  const unmarked = flags.filter(([, wanted]) => wanted === false).map(([is]) => is);
  const score = scoreOf(evaluator);
  const others: Expression<SqlBool>[] = [
    ...marked,
    ...unmarked.map((is) => sql<SqlBool>`(${is}) is not true`),
    ...given(minScore, (min) => sql<SqlBool>`${score} >= ${min}`),
    ...given(maxScore, (max) => sql<SqlBool>`${score} <= ${max}`),
    ...given(exampleId, (id) => sql<SqlBool>`${sql.ref('r.example_key')} = ${id}`),
    ...given(text, contains),
  ];
  return { indexed: indexed === undefined ? [] : [indexed], others };
}

/** Whether a page has to examine results that the filter excludes. */
export const examinesMany = (filter: ResultFilter) =>
  conditionsOf(filter).others.length > 0 || filter.metadata !== undefined;

/** The condition for results that match a filter. */
function conditionOf(db: Builder, filter: ResultFilter): Expression<SqlBool> {
  const { indexed, others } = conditionsOf(filter);
  const all = [...indexed, ...others, ...given(filter.metadata, (metadata) => hasMetadata(db, metadata))];
  return all.length === 0 ? sql.lit(true) : sql<SqlBool>`(${sql.join(all, sql` and `)})`;
}

const NONE_AFTER: ResultPosition = { seq: -1 };

/** The last result after a position that one response may examine. Undefined: all results. */
async function lastExamined(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  { after, results, bytes }: { after: number; results: number; bytes: number },
): Promise<number | undefined> {
  const { indexed } = conditionsOf(filter);
  const nearest = (db: Builder) =>
    resultsOf(db, evaluationId)
      .where('r.seq', '>', after)
      .where((eb) => eb.and(indexed));
  if (filter.text === undefined) {
    const [last] = await query((db) =>
      nearest(db)
        .select('r.seq')
        .orderBy('r.seq')
        .offset(results - 1)
        .limit(1),
    );
    return last?.seq;
  }
  const [examined] = await query((db) =>
    db
      .selectFrom(
        nearest(db)
          .select([
            'r.seq',
            sql<number>`sum(${sql.ref('r.bytes')}) over (order by ${sql.ref('r.seq')}) - ${sql.ref('r.bytes')}`.as(
              'bytes_before',
            ),
          ])
          .orderBy('r.seq')
          .limit(results)
          .as('nearest'),
      )
      .select([
        sql<number | null>`max(seq) filter (where bytes_before < ${bytes})`.as('last'),
        sql<number>`count(*)::int`.as('count'),
        sql<boolean>`coalesce(bool_and(bytes_before < ${bytes}), true)`.as('fits'),
      ]),
  );
  if (examined === undefined || (examined.fits && examined.count < results)) return undefined;
  return examined.last ?? undefined;
}

/** The value that a result is sorted by. */
function sortValue(by: SortName, evaluator: string | undefined): Expression<number> {
  switch (by) {
    case 'score':
      return sql<number>`coalesce(${scoreOf(evaluator)}, -1)::float8`;
    case 'change':
      return sql<number>`coalesce(${sql.ref('r.score')} - ${sql.ref('r.baseline_score')}, 0)::float8`;
    case 'cost':
      return sql<number>`coalesce(${knownCost}, -1)::float8`;
    default:
      return sql<number>`coalesce(${sql.ref('r.model_ms')}, -1)::float8`;
  }
}

/**
 * Results of a run: a page of at most `limit` after `after`. With an unindexed filter, a page examines at most
 * {@link EXAMINED_RESULTS}: it may then hold fewer results than there are, or none.
 */
export async function listResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  limit: number,
  after: ResultPosition = NONE_AFTER,
): Promise<ResultPage> {
  const last = examinesMany(filter)
    ? await lastExamined(query, evaluationId, filter, {
        after: after.seq,
        results: EXAMINED_RESULTS,
        bytes: SEARCHED_BYTES,
      })
    : undefined;
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) =>
        selectResults(db, evaluationId)
          .select(['r.variables', 'r.expected', 'r.tool_calls', 'r.bytes'])
          .where('r.seq', '>', after.seq)
          .$if(last !== undefined, (all) => all.where('r.seq', '<=', last ?? 0))
          .where(conditionOf(db, filter)),
      orderBy: [['seq', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
    GIVEN,
  );
  const next = more ? rows.at(-1)?.seq : last;
  return { rows, next: next === undefined ? undefined : { seq: next } };
}

/** Results in another order. Examines all results of the run: at most {@link MAX_SORTED}. */
export async function listSortedResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  sort: ResultSort,
  limit: number,
  after?: ResultPosition,
): Promise<ResultPage> {
  const { by, direction } = readSort(sort);
  const value = sortValue(by, filter.evaluator);
  const isLater = ({ seq, value: last = 0 }: ResultPosition) =>
    isBehind(value, direction, last, sql<SqlBool>`${sql.ref('r.seq')} > ${seq}`);
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) =>
        selectResults(db, evaluationId)
          .select(['r.variables', 'r.expected', 'r.tool_calls', 'r.bytes', sql<number>`${value}`.as('sort_value')])
          .where(conditionOf(db, filter))
          .where((eb) => eb.and(given(after, isLater))),
      orderBy: [
        ['sort_value', direction],
        ['seq', 'asc'],
      ],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
    SORTED,
  );
  const last = more ? rows.at(-1) : undefined;
  return { rows, next: last && { seq: last.seq, value: last.sort_value } };
}

/** The maximum number of results that a summary examines and, for a text search, the maximum size of their texts. */
export const SUMMED_RESULTS = 100_000;
const SUMMED_BYTES = 64 * 1024 * 1024;
const TENTHS = Array.from({ length: 10 }, (_, index) => index);

/** The summary of the results that match a filter. */
export interface ResultsSummary {
  results: number;
  failed: number;
  /** Failed results count as score 0. */
  scored: number;
  /** Results without a score from an evaluator. */
  unscored: number;
  passed: number;
  score: number | null;
  /** The number of scores in each tenth; a score of 1 is in the last. */
  tenths: number[];
  /** The mean of each evaluator, in the order of their names, and the number of results without its score. */
  means: (number | null)[];
  missing: number[];
  tokens: number;
  tokens_unknown_calls: number;
  cost: string | null;
  p50_ms: number | null;
  p95_ms: number | null;
  /** Whether all results were examined. */
  complete: boolean;
}

/** @param passesFrom the score from which an example passes */
export async function summarizeResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  { names, passesFrom }: { names: readonly string[]; passesFrom: number },
): Promise<ResultsSummary> {
  const last = await lastExamined(query, evaluationId, filter, {
    after: -1,
    results: SUMMED_RESULTS,
    bytes: SUMMED_BYTES,
  });
  const score = countedScoreOf(filter.evaluator);
  const meanOf = (name: string) => sql`round(avg(${countedScoreOf(name)})::numeric, 6)::float8`;
  const missingOf = (name?: string) =>
    sql<number>`(count(*) filter (where ${sql.ref('r.status')} = 'scored' and ${scoreOf(name)} is null))::int`;
  const [row] = await query((db) =>
    resultsOf(db, evaluationId)
      .$if(last !== undefined, (all) => all.where('r.seq', '<=', last ?? 0))
      .where(conditionOf(db, filter))
      .select([
        sql<number>`count(*)::int`.as('results'),
        sql<number>`(count(*) filter (where ${sql.ref('r.status')} = 'failed'))::int`.as('failed'),
        sql<number>`count(${score})::int`.as('scored'),
        missingOf(filter.evaluator).as('unscored'),
        sql<number>`(count(*) filter (where ${score} >= ${passesFrom - SCORE_EPSILON}::float8))::int`.as('passed'),
        sql<number | null>`round(avg(${score})::numeric, 6)::float8`.as('score'),
        sql<number[]>`array[${sql.join(
          TENTHS.map((tenth) => sql`(count(*) filter (where least(floor(${score} * 10), 9) = ${sql.lit(tenth)}))::int`),
        )}]`.as('tenths'),
        sql<(number | null)[]>`array[${sql.join(names.map(meanOf))}]::float8[]`.as('means'),
        sql<number[]>`array[${sql.join(names.map(missingOf))}]::int[]`.as('missing'),
        sql<number>`coalesce(sum(${sql.ref('r.tokens_input')} + ${sql.ref('r.tokens_output')}), 0)::bigint`.as(
          'tokens',
        ),
        sql<number>`coalesce(sum(${sql.ref('r.tokens_unknown')}), 0)::int`.as('tokens_unknown_calls'),
        sql<string | null>`trim_scale(sum(${sql.ref('r.cost_amount')}))::text`.as('cost'),
        sql<number | null>`percentile_disc(0.5) within group (order by ${sql.ref('r.model_ms')})`.as('p50_ms'),
        sql<number | null>`percentile_disc(0.95) within group (order by ${sql.ref('r.model_ms')})`.as('p95_ms'),
      ]),
  );
  if (row === undefined) throw new Error('An aggregate without a row.');
  return { ...row, complete: last === undefined };
}

/**
 * The result of one example, by its position among the examples.
 * @throws ApiError `not_found`, also if it has no result yet
 */
export async function getResult(query: Query, evaluationId: string, seq: number): Promise<ResultRow> {
  const [row] = await query((db) => selectResult(db, evaluationId, seq));
  if (row === undefined) throw notFound(`The result ${seq} of this evaluation`);
  return row;
}

const EXPORT_PAGE = 200;

/** All results, page by page, for an export that does not keep them in memory. Holds no connection between pages. */
export async function* eachResultPage(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
): AsyncGenerator<ResultRow[], void, undefined> {
  let after: ResultPosition | undefined;
  do {
    const { rows, next } = await listResults(query, evaluationId, filter, EXPORT_PAGE, after);
    if (rows.length > 0) yield rows;
    after = next;
  } while (after !== undefined);
}
