import { type InferResult, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { getPrompt } from '../prompts/prompts.ts';
import type { StatisticsSpan } from './statistics-span.ts';

/** Runs that are counted at most: the newest. */
export const MAX_COUNTED_RUNS = 20_000;
/** So many are counted where that gives more rows than this: a prompt may have another version with each run. */
const MAX_ROWS = 5_000;
export const MAX_SCORES = 500;

interface PromptSpan extends StatisticsSpan {
  name: string;
}

const sum = (column: string) => sql<string>`sum(${sql.ref(column)})`;

/** The newest `limit` runs by day and version, oldest first. `prompt_version` null: drafts in place of a version. */
function selectRuns(db: Builder, { name, since, until }: PromptSpan, limit: number) {
  const { from, to } = idsOfSpan(since, until);
  return db
    .with('newest', (cte) =>
      cte
        .selectFrom('executions')
        .select(['created_at', 'prompt_version', 'status', 'model_ms', 'cost_amount', 'answered_at'])
        .select(['tokens_input', 'tokens_output', 'tokens_cached_input', 'tokens_reasoning'])
        .where('prompt_name', '=', name)
        .where('id', '>=', from)
        .where('id', '<', to)
        .where('created_at', '>=', since)
        .where('created_at', '<', until)
        .orderBy('id', 'desc')
        .limit(limit),
    )
    .selectFrom('newest')
    .select([sql<string>`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`.as('day'), 'prompt_version'])
    .select([
      sql<number>`count(*)::int`.as('runs'),
      sql<number>`(count(*) filter (where ${inStates(executionStates, ['failed'])}))::int`.as('failed'),
      sum('tokens_input').as('tokens_input'),
      sum('tokens_output').as('tokens_output'),
      sum('tokens_cached_input').as('tokens_cached_input'),
      sum('tokens_reasoning').as('tokens_reasoning'),
      sql<number>`(count(*) filter (where cost_amount is null and answered_at is not null))::int`.as('unpriced'),
      // As in the sums of usage: null where there are responses and none has a known price.
      sql<string | null>`case when count(cost_amount) = 0 and count(answered_at) > 0 then null
                           else trim_scale(coalesce(sum(cost_amount), 0)) end`.as('cost_amount'),
      sql<number | null>`percentile_disc(0.5) within group (order by model_ms)`.as('p50_ms'),
      sql<number | null>`percentile_disc(0.95) within group (order by model_ms)`.as('p95_ms'),
      sql<Date>`min(created_at)`.as('first_at'),
    ])
    .groupBy([sql.lit(1), sql.lit(2)])
    .orderBy('day')
    .orderBy('prompt_version', (order) => order.asc().nullsFirst());
}

export type RunsRow = InferResult<ReturnType<typeof selectRuns>>[number];

const selectScores = (db: Builder, { name, since, until }: PromptSpan) => {
  const { from, to } = idsOfSpan(since, until);
  return db
    .selectFrom('evaluations')
    .select(['id', 'prompt_version', 'dataset_name', 'dataset_version', 'score', 'examples_total', 'finished_at'])
    .where('prompt_name', '=', name)
    .where(inStates(evaluationStates, ['completed']))
    .where('id', '>=', from)
    .where('id', '<', to)
    .where('created_at', '>=', since)
    .where('created_at', '<', until)
    .orderBy('id', 'desc')
    .limit(MAX_SCORES);
};

export type ScoreRow = InferResult<ReturnType<typeof selectScores>>[number];

/** A prompt's runs and scores over time, oldest first. */
export interface PromptSeries {
  /** From when on runs are counted: later than asked for where there are too many. */
  since: Date;
  runs: RunsRow[];
  scores: ScoreRow[];
}

/**
 * Runs of a prompt by day and version, and its evaluations that have completed, of those created in the span.
 * @throws ApiError `not_found`
 */
export function readPromptSeries(db: WorkspaceDatabase, name: string, span: StatisticsSpan): Promise<PromptSeries> {
  return db.heavy.transaction(async (query) => {
    await getPrompt(query, name);
    const { since, runs } = await readRuns(query, { name, ...span });
    const scores = await query((own) => selectScores(own, { name, ...span }));
    return { since, runs, scores: scores.toReversed() };
  });
}

/** Runs by day and version, oldest first, and from when on they are counted. */
export async function readRuns(
  query: Query,
  span: PromptSpan,
  limit = MAX_COUNTED_RUNS,
): Promise<Pick<PromptSeries, 'since' | 'runs'>> {
  const rows = await query((own) => selectRuns(own, span, limit).limit(MAX_ROWS + 1));
  if (rows.length > MAX_ROWS) return readRuns(query, span, MAX_ROWS);
  const isCut = rows.reduce((count, { runs }) => count + runs, 0) >= limit;
  return {
    since: isCut ? new Date(Math.min(...rows.map(({ first_at }) => first_at.getTime()))) : span.since,
    runs: rows,
  };
}
