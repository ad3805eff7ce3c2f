import type { Query } from '../../db/database.ts';
import { USAGE_MEASURES } from '../../db/usage-triggers.ts';

/** By what usage can be summed. */
export const USAGE_GROUPS = ['prompt', 'model', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageFilter {
  span: UsageSpan;
  promptName?: string | undefined;
  model?: string | undefined;
}

interface Group {
  prompt_name?: string;
  model?: string;
  /** `2026-01-31`, in UTC. */
  day?: string;
}

interface Sums {
  tokens_input: string;
  tokens_output: string;
  tokens_cached_input: string;
  tokens_reasoning: string;
  /** Null where there are answers and none has a known price. */
  cost_amount: string | null;
  unpriced: number;
}

/** Sums over the executions of one group. */
export interface UsageRow extends Group, Sums {
  executions: number;
  completed: number;
  failed: number;
}

/** Sums over the calls of evaluations in one group. */
export interface EvaluationUsageRow extends Group, Sums {
  /** Examples whose model was called. */
  examples: number;
  /** Judgements that were asked for; each is under the judge's own model. */
  judgements: number;
}

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
/** Times within it are exact, since the single entries are still there: they are kept for an hour longer. */
const EXACT_MS = 2 * HOUR_MS;

/** A span of time, and the whole hours and days in it, whose sums are known. */
export interface UsageSpan {
  since: Date;
  until: Date;
  hoursFrom: Date;
  hoursTo: Date;
  daysFrom: Date;
  daysTo: Date;
}

const floor = (ms: number, unitMs: number) => Math.floor(ms / unitMs) * unitMs;
const ceil = (ms: number, unitMs: number) => Math.ceil(ms / unitMs) * unitMs;

/**
 * The span from `since` until before `until`. A time of the last two hours is exact; an earlier one is taken to the whole hour,
 * so that all of the span is in it. Nothing is created after `now`, so that an `until` from then on takes in the last hour as a whole.
 */
export function usageSpan(since: Date, until: Date, now: Date): UsageSpan {
  const isExact = (ms: number) => now.getTime() - ms < EXACT_MS;
  const from = isExact(since.getTime()) ? since.getTime() : floor(since.getTime(), HOUR_MS);
  const takesInLast = until >= now;
  const to = !takesInLast && isExact(until.getTime()) ? until.getTime() : ceil(until.getTime(), HOUR_MS);
  const hoursFrom = ceil(from, HOUR_MS);
  const hoursTo = Math.max(floor(to, HOUR_MS), hoursFrom);
  const wholeDays = ceil(hoursFrom, DAY_MS) <= floor(hoursTo, DAY_MS);
  return {
    since: new Date(from),
    until: new Date(to),
    hoursFrom: new Date(hoursFrom),
    hoursTo: new Date(hoursTo),
    daysFrom: new Date(wholeDays ? ceil(hoursFrom, DAY_MS) : hoursTo),
    daysTo: new Date(wholeDays ? floor(hoursTo, DAY_MS) : hoursTo),
  };
}

const MEASURES = USAGE_MEASURES.join(', ');
const SUM_COLUMNS = `kind, prompt_name, model, starts_at as at, ${MEASURES}`;

/** Whole days and hours by their sums; by single entries what is not in those yet, and what is outside of whole hours. */
const CALLS = `
  select ${SUM_COLUMNS} from usage_sums
  where workspace_id = $1 and unit = 'day' and starts_at >= $6 and starts_at < $7
  union all
  select ${SUM_COLUMNS} from usage_sums
  where workspace_id = $1 and unit = 'hour' and starts_at >= $4 and starts_at < $6
  union all
  select ${SUM_COLUMNS} from usage_sums
  where workspace_id = $1 and unit = 'hour' and starts_at >= $7 and starts_at < $5
  union all
  select kind, prompt_name, model, created_at, ${MEASURES} from usage_entries
  where workspace_id = $1 and not summed and created_at >= $2 and created_at < $3
  union all
  select kind, prompt_name, model, created_at, ${MEASURES} from usage_entries
  where workspace_id = $1 and summed and created_at >= $2 and created_at < least($4, $3)
  union all
  select kind, prompt_name, model, created_at, ${MEASURES} from usage_entries
  where workspace_id = $1 and summed and created_at >= greatest($5, $4) and created_at < $3`;

/** What runs or waits has no entry yet. */
const UNFINISHED = `
  select 'execution', prompt_name, model, created_at, 1, 0, 0, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning,
    coalesce(cost_amount, 0), (cost_amount is not null)::int, (cost_amount is null and answered_at is not null)::int
  from executions where workspace_id = $1 and status in ('queued', 'running') and created_at >= $2 and created_at < $3`;

const SUMS = `coalesce(sum(tokens_input), 0) as tokens_input, coalesce(sum(tokens_output), 0) as tokens_output,
  coalesce(sum(tokens_cached_input), 0) as tokens_cached_input, coalesce(sum(tokens_reasoning), 0) as tokens_reasoning,
  case when coalesce(sum(priced), 0) = 0 and sum(unpriced) > 0 then null
    else trim_scale(coalesce(sum(cost_amount), 0)) end as cost_amount,
  coalesce(sum(unpriced), 0)::int as unpriced`;

/** What each group is in SQL. */
const GROUP_COLUMNS: Record<UsageGroup, { expression: string; name: string }> = {
  prompt: { expression: 'prompt_name', name: 'prompt_name' },
  model: { expression: 'model', name: 'model' },
  day: { expression: `to_char(at at time zone 'UTC', 'YYYY-MM-DD')`, name: 'day' },
};

function sumBy<Row extends Group & Sums>(
  query: Query,
  { calls, counts }: { calls: string; counts: string },
  { span, promptName, model }: UsageFilter,
  groups: UsageGroup[],
): Promise<Row[]> {
  const columns = groups.map((group) => GROUP_COLUMNS[group]);
  const select = columns.map(({ expression, name }) => `${expression} as ${name}, `).join('');
  const positions = columns.map((_, index) => index + 1).join(', ');
  const { since, until, hoursFrom, hoursTo, daysFrom, daysTo } = span;
  return query<Row & Record<string, unknown>>(
    {
      text: `select ${select} ${counts}, ${SUMS} from (${calls}) as calls
             where ($8::text is null or prompt_name = $8) and ($9::text is null or model = $9)
             ${columns.length > 0 ? `group by ${positions} order by ${positions}` : ''}`,
    },
    [since, until, hoursFrom, hoursTo, daysFrom, daysTo, promptName ?? null, model ?? null],
  );
}

/** Tokens and cost of the executions created in a span, by the groups asked for. */
export function sumUsage(query: Query, filter: UsageFilter, groups: UsageGroup[]): Promise<UsageRow[]> {
  const calls = `select * from (${CALLS}) as entries where kind = 'execution' union all ${UNFINISHED}`;
  const counts = `coalesce(sum(calls), 0)::int as executions, coalesce(sum(completed), 0)::int as completed,
                  coalesce(sum(failed), 0)::int as failed`;
  return sumBy(query, { calls, counts }, filter, groups);
}

/** Tokens and cost of the examples and judgements of evaluations, made in a span, by the groups asked for. */
export function sumEvaluationUsage(
  query: Query,
  filter: UsageFilter,
  groups: UsageGroup[],
): Promise<EvaluationUsageRow[]> {
  const calls = `select * from (${CALLS}) as entries where kind <> 'execution'`;
  const counts = `coalesce(sum(calls) filter (where kind = 'example'), 0)::int as examples,
                  coalesce(sum(calls) filter (where kind = 'judgement'), 0)::int as judgements`;
  return sumBy(query, { calls, counts }, filter, groups);
}
