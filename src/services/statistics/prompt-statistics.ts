import { type InferResult, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { NO_VERSION } from '../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { getPrompt } from '../prompts/prompts.ts';
import { RUN_SUM_COLUMNS, RUN_SUMS } from './run-sums.ts';
import { DAY_MS, type StatisticsSpan } from './statistics-span.ts';

/** The maximum number of runs that are counted one by one: the newest. */
export const MAX_COUNTED_RUNS = 20_000;
/** The maximum number of rows: a prompt may have another version with each run. */
const MAX_ROWS = 5_000;
export const MAX_SCORES = 500;

interface PromptSpan extends StatisticsSpan {
  name: string;
}

/** The newest `limit` runs by day and version, oldest first. `prompt_version` null: drafts instead of a version. */
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
    .select(RUN_SUMS)
    .select(sql<Date>`min(created_at)`.as('first_at'))
    .groupBy([sql.lit(1), sql.lit(2)])
    .orderBy('day')
    .orderBy('prompt_version', (order) => order.asc().nullsFirst());
}

/** Like `selectRuns`, for summed-up days, newest first. */
const selectDays = (db: Builder, { name, since, until }: PromptSpan, limit: number) =>
  db
    .selectFrom('prompt_days')
    .select([
      sql<string>`to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD')`.as('day'),
      sql<number | null>`nullif(prompt_version, 0)`.as('prompt_version'),
    ])
    .select([...RUN_SUM_COLUMNS, 'starts_at as first_at'])
    .where('prompt_name', '=', name)
    .where('starts_at', '>=', since)
    .where('starts_at', '<', until)
    .orderBy('starts_at', 'desc')
    .orderBy('prompt_days.prompt_version', 'desc')
    .limit(limit);

export type RunsRow = InferResult<ReturnType<typeof selectRuns>>[number];

const selectScores = (db: Builder, { name, since, until }: PromptSpan) => {
  const { from, to } = idsOfSpan(since, until);
  return db
    .selectFrom('evaluations')
    .select(['id', 'prompt_version', 'dataset_name', 'dataset_version', 'score', 'examples_total', 'finished_at'])
    .select(sql<number>`coalesce((summary->>'unscored')::int, 0)`.as('unscored'))
    .where('prompt_name', '=', name)
    .where('target', '=', 'prompt')
    .where('prompt_version', '<>', NO_VERSION)
    .where('improvement_id', 'is', null)
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
  /** The time from which runs are counted: later than requested if there are too many. */
  since: Date;
  runs: RunsRow[];
  scores: ScoreRow[];
}

/**
 * Runs of a prompt by day and version, and its completed evaluations, of those created in the span.
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

/** Runs by day and version, oldest first, and the time from which they are counted. */
type CountedRuns = Pick<PromptSeries, 'since' | 'runs'>;

/** Uses the sums of summed-up days, and counts the runs before and after them one by one. */
export async function readRuns(query: Query, span: PromptSpan): Promise<CountedRuns> {
  const { from, to } = await summedUp(query, span);
  const newest = await countRuns(query, { ...span, since: to });
  if (from >= to || newest.since > to) return newest;
  const days = await readDays(query, { ...span, since: from, until: to }, MAX_ROWS - newest.runs.length);
  const runs = [...days.runs, ...newest.runs];
  if (days.since > from) return { since: days.since, runs };
  const oldest = await countRuns(query, { ...span, until: from });
  return oldest.runs.length + runs.length > MAX_ROWS
    ? { since: from, runs }
    : { since: oldest.since, runs: [...oldest.runs, ...runs] };
}

/** The summed-up days of the span. If there are none, both ends are the span's start. */
async function summedUp(query: Query, { since, until }: PromptSpan): Promise<{ from: Date; to: Date }> {
  const [progress] = await query((db) => db.selectFrom('statistics_progress').select('days_until'));
  const from = Math.ceil(since.getTime() / DAY_MS) * DAY_MS;
  const to = Math.min(Math.floor(until.getTime() / DAY_MS) * DAY_MS, progress?.days_until.getTime() ?? 0);
  return from < to ? { from: new Date(from), to: new Date(to) } : { from: since, to: since };
}

/** The newest runs of a span, one by one. */
async function countRuns(query: Query, span: PromptSpan, limit = MAX_COUNTED_RUNS): Promise<CountedRuns> {
  const rows = await query((own) => selectRuns(own, span, limit).limit(MAX_ROWS + 1));
  if (rows.length > MAX_ROWS) return countRuns(query, span, MAX_ROWS);
  const isCut = rows.reduce((count, { runs }) => count + runs, 0) >= limit;
  return { since: isCut ? firstOf(rows) : span.since, runs: rows };
}

/** The newest days of a summed-up span, at most `limit` rows. */
async function readDays(query: Query, span: PromptSpan, limit: number): Promise<CountedRuns> {
  const rows = await query((own) => selectDays(own, span, limit + 1));
  if (rows.length <= limit) return { since: span.since, runs: rows.toReversed() };
  // The last day may be incomplete.
  const whole = rows.filter(({ day }) => day !== rows.at(-1)?.day);
  return { since: whole.length === 0 ? span.until : firstOf(whole), runs: whole.toReversed() };
}

const firstOf = (rows: readonly RunsRow[]) => new Date(Math.min(...rows.map(({ first_at }) => first_at.getTime())));
