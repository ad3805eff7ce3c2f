import type { Query } from '../db/database.ts';

/** By what usage can be summed. */
export const USAGE_GROUPS = ['prompt', 'model', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageFilter {
  since: Date;
  until: Date;
  promptName?: string | undefined;
  model?: string | undefined;
}

/** Sums over the executions of one group. */
export interface UsageRow {
  prompt_name?: string;
  model?: string;
  /** `2026-01-31`, in UTC. */
  day?: string;
  executions: number;
  completed: number;
  failed: number;
  tokens_input: string;
  tokens_output: string;
  tokens_cached_input: string;
  tokens_reasoning: string;
  /** Null where there are answers and none has a known price. */
  cost_amount: string | null;
  unpriced: number;
}

/** What each group is in SQL. */
export const GROUP_COLUMNS: Record<UsageGroup, { expression: string; name: string }> = {
  prompt: { expression: 'prompt_name', name: 'prompt_name' },
  model: { expression: 'model', name: 'model' },
  day: { expression: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`, name: 'day' },
};

/** Tokens and cost of the executions created from `since` until before `until`, by the groups asked for. */
export async function sumUsage(query: Query, filter: UsageFilter, groups: UsageGroup[]): Promise<UsageRow[]> {
  const columns = groups.map((group) => GROUP_COLUMNS[group]);
  const select = columns.map(({ expression, name }) => `${expression} as ${name}, `).join('');
  const positions = columns.map((_, index) => index + 1).join(', ');
  return query<UsageRow>(
    {
      text: `select ${select} count(*)::int as executions,
               count(*) filter (where status = 'completed')::int as completed,
               count(*) filter (where status = 'failed')::int as failed,
               coalesce(sum(tokens_input), 0) as tokens_input, coalesce(sum(tokens_output), 0) as tokens_output,
               coalesce(sum(tokens_cached_input), 0) as tokens_cached_input,
               coalesce(sum(tokens_reasoning), 0) as tokens_reasoning,
               case when count(cost_amount) = 0 and count(answered_at) > 0 then null
                 else trim_scale(coalesce(sum(cost_amount), 0)) end as cost_amount,
               count(*) filter (where answered_at is not null and cost_amount is null)::int as unpriced
             from executions
             where workspace_id = $1 and created_at >= $2 and created_at < $3
               and ($4::text is null or prompt_name = $4) and ($5::text is null or model = $5)
             ${columns.length > 0 ? `group by ${positions} order by ${positions}` : ''}`,
    },
    [filter.since, filter.until, filter.promptName ?? null, filter.model ?? null],
  );
}
