import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { RUN_SUM_COLUMNS, RUN_SUMS } from './run-sums.ts';
import { DAY_MS } from './statistics-span.ts';

const LOCK = 'days of prompts';
/** The job that sums up a day waits this long, so that no transaction that started earlier can still add to the day. */
const SETTLED_BEFORE_MS = 30 * 60_000;

/** A run of a prompt that is stored after it ended, maybe days later. */
interface EndedRun {
  prompt_name: string | null;
  started_at: Date;
}

const mayBeLate = (runs: readonly EndedRun[]) =>
  runs.some(
    ({ prompt_name: name, started_at: at }) =>
      name !== null && (Math.floor(at.getTime() / DAY_MS) + 1) * DAY_MS + SETTLED_BEFORE_MS <= Date.now(),
  );

/** Prevents days of a workspace from being summed up until the transaction ends. */
export const lockDays = (query: Query): Promise<void> => lockInWorkspace(query, LOCK);

/** Calls `lockDays` if one of these runs may belong to a summed-up day. Call it before they are stored. */
export async function lockLateDays(query: Query, runs: readonly EndedRun[]): Promise<void> {
  if (mayBeLate(runs)) await lockDays(query);
}

const old = (column: string) => sql.ref(`prompt_days.${column}`);
const late = (column: string) => sql.ref(`excluded.${column}`);
const added = (column: string) => sql<never>`${old(column)} + ${late(column)}`;
/** The percentiles of two sets can't be combined exactly: their mean, weighted by size, is close. */
const between = (column: string) => sql<never>`case when ${late(column)} is null then ${old(column)}
  when ${old(column)} is null then ${late(column)}
  else round((${old(column)}::numeric * ${old('runs')} + ${late(column)}::numeric * ${late('runs')}) / (${old('runs')} + ${late('runs')}))::int end`;

const CHANGES = {
  ...Object.fromEntries(RUN_SUM_COLUMNS.map((column) => [column, added(column)])),
  cost_amount: sql<never>`case when ${old('cost_amount')} is null then ${late('cost_amount')}
    else ${old('cost_amount')} + coalesce(${late('cost_amount')}, 0) end`,
  p50_ms: between('p50_ms'),
  p95_ms: between('p95_ms'),
};

/** Adds runs stored in this transaction to the days that were summed up without them. */
export async function addLateRuns(query: Query, ids: readonly string[], runs: readonly EndedRun[]): Promise<void> {
  if (ids.length === 0 || !mayBeLate(runs)) return;
  await query((db) =>
    db
      .insertInto('prompt_days')
      .columns(['prompt_name', 'starts_at', 'prompt_version', ...RUN_SUM_COLUMNS])
      .expression((eb) =>
        eb
          .selectFrom('executions')
          .innerJoin('statistics_progress', 'statistics_progress.workspace_id', 'executions.workspace_id')
          .select((each) => [
            each.ref('prompt_name').$notNull().as('prompt_name'),
            sql<Date>`date_trunc('day', created_at, 'UTC')`.as('starts_at'),
            sql<number>`coalesce(prompt_version, 0)`.as('prompt_version'),
          ])
          .select(RUN_SUMS)
          .where('prompt_name', 'is not', null)
          .where(sql<boolean>`id = any(${ids}::uuid[])`)
          .whereRef('created_at', '<', 'days_until')
          .groupBy(sql`1, 2, 3`),
      )
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'prompt_name', 'starts_at', 'prompt_version']).doUpdateSet(CHANGES),
      ),
  );
}
