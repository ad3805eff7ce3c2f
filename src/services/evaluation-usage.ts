import type { Query } from '../db/database.ts';
import { GROUP_COLUMNS, type UsageFilter, type UsageGroup } from './usage.ts';

/** Sums over the calls of evaluations in one group. */
export interface EvaluationUsageRow {
  prompt_name?: string;
  model?: string;
  /** `2026-01-31`, in UTC. */
  day?: string;
  /** Examples whose model was called. */
  examples: number;
  /** Judgements that were asked for; each is under the judge's own model. */
  judgements: number;
  tokens_input: string;
  tokens_output: string;
  tokens_cached_input: string;
  tokens_reasoning: string;
  /** Null where there are answers and none has a known price. */
  cost_amount: string | null;
  unpriced: number;
}

/** What a call cost is known from its row; when it was made, by when the row was written. */
const CALLS = `
  select e.prompt_name, e.model, r.created_at, false as judged, r.finish_reason is not null as answered, r.tokens_input,
    r.tokens_output, r.tokens_cached_input, r.tokens_reasoning, r.cost_amount
  from evaluations e join evaluation_results r on r.evaluation_id = e.id
  where e.workspace_id = $1 and r.attempts > 0
  union all
  select e.prompt_name, config->>'model', j.created_at, true, true, j.tokens_input, j.tokens_output,
    j.tokens_cached_input, j.tokens_reasoning, j.cost_amount
  from evaluations e join evaluation_judgements j on j.evaluation_id = e.id
    join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = j.evaluator
  where e.workspace_id = $1`;

/** Tokens and cost of the examples and judgements of evaluations, made from `since` until before `until`. */
export async function sumEvaluationUsage(
  query: Query,
  filter: UsageFilter,
  groups: UsageGroup[],
): Promise<EvaluationUsageRow[]> {
  const columns = groups.map((group) => GROUP_COLUMNS[group]);
  const select = columns.map(({ expression, name }) => `${expression} as ${name}, `).join('');
  const positions = columns.map((_, index) => index + 1).join(', ');
  return query<EvaluationUsageRow>(
    {
      text: `select ${select} count(*) filter (where not judged)::int as examples,
               count(*) filter (where judged)::int as judgements,
               coalesce(sum(tokens_input), 0) as tokens_input, coalesce(sum(tokens_output), 0) as tokens_output,
               coalesce(sum(tokens_cached_input), 0) as tokens_cached_input,
               coalesce(sum(tokens_reasoning), 0) as tokens_reasoning,
               case when count(cost_amount) = 0 and bool_or(answered) then null
                 else trim_scale(coalesce(sum(cost_amount), 0)) end as cost_amount,
               count(*) filter (where answered and cost_amount is null)::int as unpriced
             from (${CALLS}) as calls
             where created_at >= $2 and created_at < $3
               and ($4::text is null or prompt_name = $4) and ($5::text is null or model = $5)
             ${columns.length > 0 ? `group by ${positions} order by ${positions}` : ''}`,
    },
    [filter.since, filter.until, filter.promptName ?? null, filter.model ?? null],
  );
}
