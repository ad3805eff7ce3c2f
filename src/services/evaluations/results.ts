import { type Expression, type InferResult, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { eachPage, type Page, selectPage } from '../../db/read-page.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';

export interface ResultFilter {
  regression?: boolean | undefined;
  improvement?: boolean | undefined;
  failed?: boolean | undefined;
}

/** Of a run that was compared with its threshold alone, only the results below it are marked. */
const markOf = (column: 'r.regression' | 'r.improvement') =>
  sql<boolean | null>`coalesce(${sql.ref(column)},
    case when ${inStates(evaluationStates, ['completed'], 'e')} and ${sql.ref('e.baseline_id')} is null then false end)`;

function selectResults(db: Builder, evaluationId: string, filter: ResultFilter, after: number) {
  return (
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .select(['r.seq', 'r.example_key', 'r.status', 'r.variables', 'r.expected', 'r.output', 'r.finish_reason'])
      .select(['r.tool_calls', 'r.model', 'r.reused_from'])
      .select(['r.scores', 'r.score', 'r.baseline_score', 'r.error', 'r.attempts'])
      .select([markOf('r.regression').as('regression'), markOf('r.improvement').as('improvement')])
      .select(['r.tokens_input', 'r.tokens_output', 'r.tokens_cached_input', 'r.tokens_reasoning', 'r.model_ms'])
      // Unknown where the cost of one of its calls is.
      .select(sql<string | null>`case when r.assumed_cost is null then r.cost_amount end`.as('cost_amount'))
      .where('e.id', '=', evaluationId)
      .where('r.seq', '>', after)
      .where((eb) => {
        const conditions: Expression<SqlBool>[] = [];
        // There is a partial index of the results that are wanted.
        const flag = (is: RawBuilder<SqlBool>, wanted: boolean | undefined) => {
          if (wanted !== undefined) conditions.push(wanted ? is : sql<SqlBool>`(${is}) is not true`);
        };
        flag(sql`r.regression`, filter.regression);
        flag(sql`r.improvement`, filter.improvement);
        flag(sql`r.status = 'failed'`, filter.failed);
        return eb.and(conditions);
      })
  );
}

/** A result as it is read for callers. */
export type ResultRow = InferResult<ReturnType<typeof selectResults>>[number];

/** Results of a run in the order of its examples, a page of at most `limit` after `after`. */
export function listResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  limit: number,
  after = -1,
): Promise<Page<ResultRow>> {
  return selectPage(
    query,
    {
      select: (db) => selectResults(db, evaluationId, filter, after).select('r.bytes'),
      orderBy: [['seq', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );
}

const EXPORT_PAGE = 200;

/** All results, page by page, for an export that does not hold them in memory. */
export function eachResultPage(query: Query, evaluationId: string, filter: ResultFilter): AsyncIterable<ResultRow[]> {
  return eachPage<ResultRow>((after) => listResults(query, evaluationId, filter, EXPORT_PAGE, after?.seq));
}
