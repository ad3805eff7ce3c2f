import type { Query } from '../../db/database.ts';
import type { ResultStatus } from '../../db/entities/evaluation.ts';
import { eachPage, type Page, readPage } from '../../db/read-page.ts';
import type { JsonValue } from '../../domain/json.ts';

/** What came of one example, as callers see it. `cost_amount` is null where that of one of its calls is unknown. */
export interface ResultRow {
  seq: number;
  example_key: string;
  status: ResultStatus;
  variables: Record<string, JsonValue>;
  expected: JsonValue;
  output: string | null;
  finish_reason: string | null;
  scores: Record<string, { score: number; reason: string | null }> | null;
  score: number | null;
  baseline_score: number | null;
  regression: boolean | null;
  improvement: boolean | null;
  error: { code: string; message: string } | null;
  attempts: number;
  tokens_input: number;
  tokens_output: number;
  tokens_cached_input: number;
  tokens_reasoning: number;
  cost_amount: string | null;
  model_ms: number | null;
}

export interface ResultFilter {
  regression?: boolean | undefined;
  improvement?: boolean | undefined;
  failed?: boolean | undefined;
}

const COLUMNS = `r.seq, r.example_key, r.status, r.variables, r.expected, r.output, r.finish_reason, r.scores, r.score,
  r.baseline_score, r.regression, r.improvement, r.error, r.attempts,
  r.tokens_input::float8 as tokens_input, r.tokens_output::float8 as tokens_output, r.tokens_cached_input::float8 as tokens_cached_input,
  r.tokens_reasoning::float8 as tokens_reasoning, case when r.assumed_cost is null then r.cost_amount end as cost_amount, r.model_ms, r.bytes`;

/** Results of a run in the order of its examples, a page of at most `limit` after `after`. */
export async function listResults(
  query: Query,
  evaluationId: string,
  filter: ResultFilter,
  limit: number,
  after: number | undefined,
): Promise<Page<ResultRow>> {
  const conditions = ['e.workspace_id = $1', 'e.id = $2', 'r.seq > $3'];
  const flag = (column: string, wanted: boolean | undefined) => {
    // Of those that are wanted there is a partial index.
    if (wanted !== undefined) conditions.push(wanted ? column : `(${column}) is not true`);
  };
  flag('r.regression', filter.regression);
  flag('r.improvement', filter.improvement);
  flag(`r.status = 'failed'`, filter.failed);
  const select = `select ${COLUMNS} from evaluations e join evaluation_results r on r.evaluation_id = e.id
                  where ${conditions.join(' and ')}`;
  const list = { select, orderBy: 'seq', bytes: 'bytes' };
  return readPage<ResultRow>(query, list, [evaluationId, after ?? -1], limit);
}

const EXPORT_PAGE = 200;

/** All results, page by page, for an export that does not hold them in memory. */
export function eachResultPage(query: Query, evaluationId: string, filter: ResultFilter): AsyncIterable<ResultRow[]> {
  return eachPage<ResultRow>((after) => listResults(query, evaluationId, filter, EXPORT_PAGE, after?.seq));
}
