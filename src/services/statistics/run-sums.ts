import { sql } from 'kysely';
import { inStates } from '../../db/state-change.ts';
import { executionStates } from '../../domain/execution-states.ts';

const sum = (column: string) => sql<number>`sum(${sql.ref(column)})::bigint`;

/** The sums over a group of `executions`, under the column names of `prompt_days`. */
export const RUN_SUMS = [
  sql<number>`count(*)::int`.as('runs'),
  sql<number>`(count(*) filter (where ${inStates(executionStates, ['failed'])}))::int`.as('failed'),
  sum('tokens_input').as('tokens_input'),
  sum('tokens_output').as('tokens_output'),
  sum('tokens_cached_input').as('tokens_cached_input'),
  sum('tokens_reasoning').as('tokens_reasoning'),
  sql<number>`(count(*) filter (where cost_amount is null and answered_at is not null))::int`.as('unpriced'),
  // As in the sums of usage: null if there are responses and none has a known price.
  sql<string | null>`case when count(cost_amount) = 0 and count(answered_at) > 0 then null
                       else trim_scale(coalesce(sum(cost_amount), 0)) end`.as('cost_amount'),
  sql<number | null>`percentile_disc(0.5) within group (order by model_ms)`.as('p50_ms'),
  sql<number | null>`percentile_disc(0.95) within group (order by model_ms)`.as('p95_ms'),
] as const;

/** The columns of {@link RUN_SUMS}, in their order. */
export const RUN_SUM_COLUMNS = RUN_SUMS.map(({ alias }) => alias).filter((alias) => typeof alias === 'string');
