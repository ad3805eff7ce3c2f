import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { SystemDatabase } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { backfillStates } from '../domain/rules/backfill-states.ts';
import { startScoringWorkflow } from '../services/rules/scoring-workflow.ts';
import { workWithItems } from '../services/rules/work-with-items.ts';
import { leaveToReconciliation, type WorkflowStarter } from '../temporal/workflows.ts';

/** Workflows that are started in one step, of rules and of backfills. */
const BATCH_SIZE = 100;
/** A workflow that does not come to its end is looked for this often: it may be at work, lost, or ended from outside. */
const NEXT_CHECK = sql<Date>`now() + interval '15 seconds'`;

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

/**
 * Starts the workflows of rules and backfills that have something to do. Safe to run in several processes at once.
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
      startScoringWorkflow(starter, work).catch(leaveToReconciliation(log, { [`${work.kind}_id`]: work.id })),
    ),
  );
}
