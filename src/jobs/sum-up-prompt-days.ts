import { sql } from 'kysely';
import type { Logger } from 'pino';
import { bindWorkspace, type SystemDatabase } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { lockDays } from '../services/statistics/late-runs.ts';
import { RUN_SUM_COLUMNS, RUN_SUMS } from '../services/statistics/run-sums.ts';
import { DAY_MS } from '../services/statistics/statistics-span.ts';

/** The hours after a day's end until everything created in it is visible, whatever the clocks of processes say. */
const SETTLED_AFTER_HOURS = 1;
/** How long a day waits for unfinished runs. */
const WAITS_FOR_RUNS_DAYS = 2;
/** The number of workspaces searched at a time. */
const BATCH_SIZE = 100;

/** The first day of a workspace that is not summed up. */
const NEXT_DAY = sql<Date>`coalesce(p.days_until, first.starts_at)`;

/** Workspaces with a past day that is not summed up, each with the first such day. */
const dueDays = (db: Builder, setAside: readonly string[]) =>
  db
    .selectFrom('workspaces as w')
    .leftJoin('statistics_progress as p', 'p.workspace_id', 'w.id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('executions as e')
          .select(sql<Date>`date_trunc('day', e.created_at, 'UTC')`.as('starts_at'))
          .whereRef('e.workspace_id', '=', 'w.id')
          .where('p.workspace_id', 'is', null)
          .orderBy('e.id')
          .limit(1)
          .as('first'),
      (join) => join.onTrue(),
    )
    .select(['w.id as workspaceId', NEXT_DAY.as('startsAt')])
    .where('w.deleted_at', 'is', null)
    .where(sql<boolean>`w.id <> all(${setAside}::uuid[])`)
    .where(
      sql<boolean>`${NEXT_DAY} + interval '1 day' <= now() - make_interval(hours => ${sql.lit(SETTLED_AFTER_HOURS)})`,
    )
    .where((eb) =>
      eb.or([
        sql<boolean>`${NEXT_DAY} + make_interval(days => ${sql.lit(1 + WAITS_FOR_RUNS_DAYS)}) <= now()`,
        eb.not(
          eb.exists(
            eb
              .selectFrom('executions as e')
              .select('e.id')
              .whereRef('e.workspace_id', '=', 'w.id')
              .where(inStates(executionStates, UNFINISHED_EXECUTION, 'e'))
              .where('e.created_at', '<', sql<Date>`${NEXT_DAY} + interval '1 day'`),
          ),
        ),
      ]),
    )
    .limit(BATCH_SIZE);

/** Sums up a day, and marks it as done. If two processes do so concurrently, one does nothing. */
const sumUpDay = (db: Builder, workspaceId: string, startsAt: Date) => {
  const endsAt = new Date(startsAt.getTime() + DAY_MS);
  const { from, to } = idsOfSpan(startsAt, endsAt);
  return db
    .with('taken', (cte) =>
      cte
        .insertInto('statistics_progress')
        .values({ workspace_id: workspaceId, days_until: endsAt })
        .onConflict((conflict) =>
          conflict
            .column('workspace_id')
            .doUpdateSet({ days_until: endsAt })
            .where('statistics_progress.days_until', '=', startsAt),
        )
        .returning('workspace_id'),
    )
    .insertInto('prompt_days')
    .columns(['workspace_id', 'prompt_name', 'starts_at', 'prompt_version', ...RUN_SUM_COLUMNS])
    .expression((eb) =>
      eb
        .selectFrom('executions')
        .innerJoin('taken', 'taken.workspace_id', 'executions.workspace_id')
        .select((each) => [
          'executions.workspace_id',
          each.ref('executions.prompt_name').$notNull().as('prompt_name'),
          sql<Date>`${startsAt}::timestamptz`.as('starts_at'),
          sql<number>`coalesce(prompt_version, 0)`.as('prompt_version'),
        ])
        .select(RUN_SUMS)
        .where('prompt_name', 'is not', null)
        .where('id', '>=', from)
        .where('id', '<', to)
        .where('created_at', '>=', startsAt)
        .where('created_at', '<', endsAt)
        .groupBy(sql`1, 2, 3, 4`),
    );
};

/**
 * Sums up the runs of every prompt for each past day, by version. A day with unfinished runs waits for them, and a workspace that
 * fails does not delay others. Safe to run in several processes at once.
 */
export async function sumUpPromptDays(system: SystemDatabase, log: Logger, stopping?: AbortSignal): Promise<void> {
  const setAside: string[] = [];
  for (;;) {
    const due = await system.query((db) => dueDays(db, setAside));
    for (const { workspaceId, startsAt } of due) {
      if (stopping?.aborted) return;
      try {
        // A day may have millions of runs.
        const options = { statementTimeoutMs: 0 };
        await system.transaction(async (query) => {
          // Runs of that day from elsewhere may be in the process of being stored: before this, or after it.
          await lockDays(bindWorkspace(query, workspaceId));
          await query((db) => sumUpDay(db, workspaceId, startsAt));
        }, options);
      } catch (error) {
        log.warn({ err: error, workspace_id: workspaceId, day: startsAt }, 'cannot sum up a day of prompts');
        setAside.push(workspaceId);
      }
    }
    if (due.length === 0) return;
  }
}
