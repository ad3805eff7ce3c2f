import { type Expression, type InferResult, type SqlBool, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type GivenColumns, selectPage } from '../../../db/read-page.ts';
import { given } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import type { Builder } from '../../../db/statement.ts';
import { notFound } from '../../../domain/errors.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';

/** Results that a page with a filter without an index goes through at most: a rare one takes no longer than others. */
export const EXAMINED_RESULTS = 5_000;

export interface ResultFilter {
  regression?: boolean | undefined;
  improvement?: boolean | undefined;
  failed?: boolean | undefined;
  exampleId?: string | undefined;
  /** Whose score `minScore` and `maxScore` are about. Default: the example's. */
  evaluator?: string | undefined;
  /** From 0 to 1, both included. A result without such a score is in no range. */
  minScore?: number | undefined;
  maxScore?: number | undefined;
}

/** Results in the order of the examples. */
export interface ResultPage {
  rows: ResultRow[];
  /** What is left comes after this `seq`. Undefined: nothing is left. */
  next: number | undefined;
}

/** Of a run that was compared with its threshold alone, only the results below it are marked. */
const markOf = (column: 'r.regression' | 'r.improvement') =>
  sql<boolean | null>`coalesce(${sql.ref(column)},
    case when ${inStates(evaluationStates, ['completed'], 'e')} and ${sql.ref('e.baseline_id')} is null then false end)`;

const resultsOf = (db: Builder, evaluationId: string) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .where('e.id', '=', evaluationId);

const selectResults = (db: Builder, evaluationId: string) =>
  resultsOf(db, evaluationId)
    .select(['r.seq', 'r.example_key', 'r.status', 'r.output', 'r.finish_reason', 'r.model', 'r.reused_from'])
    .select(['r.scores', 'r.score', 'r.baseline_score', 'r.error', 'r.attempts'])
    .select([markOf('r.regression').as('regression'), markOf('r.improvement').as('improvement')])
    .select(['r.tokens_input', 'r.tokens_output', 'r.tokens_cached_input', 'r.tokens_reasoning', 'r.model_ms'])
    // Unknown where the cost of one of its calls is.
    .select(sql<string | null>`case when r.assumed_cost is null then r.cost_amount end`.as('cost_amount'));

/** One with its JSON as texts, which are passed on as they are. */
const selectResult = (db: Builder, evaluationId: string, seq: number) =>
  selectResults(db, evaluationId)
    .select(sql<string>`${sql.ref('r.variables')}::text`.as('variables'))
    .select(sql<string | null>`${sql.ref('r.expected')}::text`.as('expected'))
    .select(sql<string | null>`${sql.ref('r.tool_calls')}::text`.as('tool_calls'))
    .where('r.seq', '=', seq);

/** A result as it is read for callers. */
export type ResultRow = InferResult<ReturnType<typeof selectResult>>[number];

/** The same of the rows of a page. */
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
    'model_ms',
    'cost_amount',
    'variables',
    'expected',
    'tool_calls',
  ],
  texts: new Set(['variables', 'expected', 'tool_calls']),
};

/** What is asked for: `indexed` has a partial index, which holds nothing else; the `others` are looked for among those. */
function conditionsOf({ regression, improvement, failed, exampleId, evaluator, minScore, maxScore }: ResultFilter) {
  const flags: [is: Expression<SqlBool>, wanted: boolean | undefined][] = [
    [sql<SqlBool>`${sql.ref('r.regression')}`, regression],
    [sql<SqlBool>`${sql.ref('r.improvement')}`, improvement],
    [sql<SqlBool>`${sql.ref('r.status')} = 'failed'`, failed],
  ];
  const [indexed, ...marked] = flags.filter(([, wanted]) => wanted === true).map(([is]) => is);
  const unmarked = flags.filter(([, wanted]) => wanted === false).map(([is]) => is);
  const score =
    evaluator === undefined
      ? sql.ref<number>('r.score')
      : sql<number>`(${sql.ref('r.scores')} -> ${evaluator}::text ->> 'score')::float8`;
  const others: Expression<SqlBool>[] = [
    ...marked,
    ...unmarked.map((is) => sql<SqlBool>`(${is}) is not true`),
    ...given(minScore, (min) => sql<SqlBool>`${score} >= ${min}`),
    ...given(maxScore, (max) => sql<SqlBool>`${score} <= ${max}`),
    ...given(exampleId, (id) => sql<SqlBool>`${sql.ref('r.example_key')} = ${id}`),
  ];
  return { indexed: indexed === undefined ? [] : [indexed], others };
}

/** Whether a page has to go through results that the filter leaves out. */
export const examinesMany = (filter: ResultFilter) => conditionsOf(filter).others.length > 0;

/**
 * Results of a run, a page of at most `limit` after `after`. With a filter that has no index, a page goes through
 * {@link EXAMINED_RESULTS} at most: then it may hold fewer than there are, or none.
 */
export async function listResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  limit: number,
  after = -1,
): Promise<ResultPage> {
  const { indexed, others } = conditionsOf(filter);
  const [last] =
    others.length === 0
      ? []
      : await query((db) =>
          resultsOf(db, evaluationId)
            .select('r.seq')
            .where('r.seq', '>', after)
            .where((eb) => eb.and(indexed))
            .orderBy('r.seq')
            .offset(EXAMINED_RESULTS - 1)
            .limit(1),
        );
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) =>
        selectResults(db, evaluationId)
          .select(['r.variables', 'r.expected', 'r.tool_calls', 'r.bytes'])
          .where('r.seq', '>', after)
          .$if(last !== undefined, (all) => all.where('r.seq', '<=', last?.seq ?? 0))
          .where((eb) => eb.and([...indexed, ...others])),
      orderBy: [['seq', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
    GIVEN,
  );
  return { rows, next: more ? rows.at(-1)?.seq : last?.seq };
}

/**
 * The result of one example, by its place among the examples.
 * @throws ApiError `not_found`, also where it has no result yet
 */
export async function getResult(query: Query, evaluationId: string, seq: number): Promise<ResultRow> {
  const [row] = await query((db) => selectResult(db, evaluationId, seq));
  if (row === undefined) throw notFound(`The result ${seq} of this evaluation`);
  return row;
}

const EXPORT_PAGE = 200;

/** All results, page by page, for an export that does not hold them in memory. No connection is held between pages. */
export async function* eachResultPage(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
): AsyncGenerator<ResultRow[], void, undefined> {
  let after: number | undefined;
  do {
    const { rows, next } = await listResults(query, evaluationId, filter, EXPORT_PAGE, after);
    if (rows.length > 0) yield rows;
    after = next;
  } while (after !== undefined);
}
