import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { SystemDatabase } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { backfillStates } from '../domain/rules/backfill-states.ts';
import { startScoringWorkflow } from '../services/rules/scoring-workflow.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';

/** Workflows that are started in one step, of rules and of backfills. */
const BATCH_SIZE = 100;
/** Items that a statement deletes. */
const DELETED_AT_ONCE = 2_000;
/** A workflow that does not come to its end is looked for this often: it may be at work, lost, or ended from outside. */
const NEXT_CHECK = sql<Date>`now() + interval '15 seconds'`;

/**
 * Begins a statement with `work (workspace_id, id)`: what has items. It goes from one to the next by the index, so that its cost grows with
 * their number, not with that of the items.
 */
const workWithItems = (db: Builder) =>
  db.withRecursive('work(workspace_id, id)', (cte) =>
    cte
      .selectFrom((eb) =>
        eb
          .selectFrom('rule_items')
          .select(['workspace_id', 'work_id'])
          .orderBy('workspace_id')
          .orderBy('work_id')
          .limit(sql.lit(1))
          .as('first'),
      )
      .select(['first.workspace_id', 'first.work_id as id'])
      .unionAll((eb) =>
        eb
          .selectFrom('work')
          .innerJoinLateral(
            (each) =>
              each
                .selectFrom('rule_items as i')
                .select(['i.workspace_id', 'i.work_id'])
                .where(
                  sql<SqlBool>`(${sql.ref('i.workspace_id')}, ${sql.ref('i.work_id')}) > (${sql.ref('work.workspace_id')}, ${sql.ref('work.id')})`,
                )
                .orderBy('i.workspace_id')
                .orderBy('i.work_id')
                .limit(sql.lit(1))
                .as('next'),
            (join) => join.onTrue(),
          )
          .select(['next.workspace_id', 'next.work_id as id']),
      ),
  );

/** Rules that have something due; each is taken by one process. */
const takeRules = (db: Builder) =>
  workWithItems(db)
    .with('due', (cte) =>
      cte
        .selectFrom('rules')
        .select('id')
        .where('enabled', '=', sql.lit(true))
        .where('check_at', '<=', sql<Date>`now()`)
        .where('id', 'in', (eb) => eb.selectFrom('work').select('work.id'))
        .orderBy('check_at')
        .limit(BATCH_SIZE)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('rules as r')
    .from('due')
    .set({ check_at: NEXT_CHECK })
    .whereRef('r.id', '=', 'due.id')
    .returning(['r.id', 'r.workspace_id', 'r.name']);

const takeBackfills = (db: Builder) =>
  db
    .with('due', (cte) =>
      cte
        .selectFrom('rule_backfills')
        .select('id')
        .where(inStates(backfillStates, ['running']))
        .where('check_at', '<=', sql<Date>`now()`)
        .orderBy('check_at')
        .limit(BATCH_SIZE)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('rule_backfills as b')
    .from('due')
    .set({ check_at: NEXT_CHECK })
    .whereRef('b.id', '=', 'due.id')
    .returning(['b.id', 'b.workspace_id', 'b.name']);

/** What is due for nobody: its rule is disabled or gone, or its backfill has ended. */
const deleteOrphans = (db: Builder) =>
  workWithItems(db)
    .with('orphaned', (cte) =>
      cte
        .selectFrom('work')
        .select(['work.workspace_id', 'work.id'])
        .where((eb) =>
          eb.not(
            eb.or([
              eb.exists(
                eb
                  .selectFrom('rules as r')
                  .select('r.id')
                  .whereRef('r.id', '=', 'work.id')
                  .where('r.enabled', '=', sql.lit(true)),
              ),
              eb.exists(
                eb
                  .selectFrom('rule_backfills as b')
                  .select('b.id')
                  .whereRef('b.id', '=', 'work.id')
                  .where(inStates(backfillStates, ['running', 'paused'], 'b')),
              ),
            ]),
          ),
        ),
    )
    .deleteFrom('rule_items')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('rule_items as i')
        .innerJoin('orphaned as o', (join) =>
          join.onRef('o.workspace_id', '=', 'i.workspace_id').onRef('o.id', '=', 'i.work_id'),
        )
        .select('i.id')
        .limit(DELETED_AT_ONCE)
        .forUpdate('i')
        .skipLocked(),
    )
    .returning('id');

/**
 * Starts the workflows of rules and backfills that have something to do, and deletes what is due for nobody. Safe to run in several
 * processes at once.
 * @throws Error where Temporal or the database is away: what was not started is at the next check
 */
export async function startRules({ query }: SystemDatabase, starter: WorkflowStarter, log: Logger): Promise<void> {
  const [rules, backfills] = [await query(takeRules), await query(takeBackfills)];
  const due = [
    ...rules.map((row) => ({ kind: 'rule' as const, ...row })),
    ...backfills.map((row) => ({ kind: 'backfill' as const, ...row })),
  ];
  await Promise.all(
    due.map((work) =>
      startScoringWorkflow(starter, work).catch((error: unknown) =>
        log.warn(
          { err: error, kind: work.kind, id: work.id },
          'cannot start the scoring of executions; it is started later',
        ),
      ),
    ),
  );
  let deleted = DELETED_AT_ONCE;
  while (deleted === DELETED_AT_ONCE) deleted = (await query(deleteOrphans)).length;
}
