import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import { distinctKeys, overdue } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import { prepared } from '../db/statement.ts';
import { backfillStates } from '../domain/rules/backfill-states.ts';
import { startScoringWorkflow } from '../services/rules/scoring-workflow.ts';
import { leaveToReconciliation, type WorkflowStarter } from '../temporal/workflows.ts';

/** The interval for checking a workflow that has not ended: it may be running, lost, or terminated from outside. */
const NEXT_CHECK = sql<Date>`now() + interval '15 seconds'`;

/** Rules with something due; each is taken by one process. */
const TAKE_RULES = prepared()((db) =>
  overdue(
    db,
    'rules',
    sql<SqlBool>`enabled and id in ${distinctKeys(db, 'rule_items', ['workspace_id', 'work_id']).selectFrom('found').select('found.work_id')}`,
  )
    .updateTable('rules as r')
    .from('overdue')
    .set({ check_at: NEXT_CHECK })
    .whereRef('r.id', '=', 'overdue.id')
    .returning(['r.id', 'r.workspace_id', 'r.name']),
);

const TAKE_BACKFILLS = prepared()((db) =>
  overdue(db, 'rule_backfills', inStates(backfillStates, ['running']))
    .updateTable('rule_backfills as b')
    .from('overdue')
    .set({ check_at: NEXT_CHECK })
    .whereRef('b.id', '=', 'overdue.id')
    .returning(['b.id', 'b.workspace_id', 'b.name']),
);

/**
 * Starts the workflows of rules and backfills that have work to do. Safe to run in several processes at once.
 * @throws Error if Temporal or the database is down; the next check starts the rest
 */
export async function startRules({ query }: SystemDatabase, starter: WorkflowStarter, log: Logger): Promise<void> {
  const [rules, backfills] = [await query(TAKE_RULES, {}), await query(TAKE_BACKFILLS, {})];
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
