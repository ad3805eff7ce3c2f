import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { asJson } from '../../db/statement.ts';
import { backfillStates } from '../../domain/rules/backfill-states.ts';
import { outOfBudget } from '../budget-reason.ts';

const COMPLETED = changeState(backfillStates, { to: 'completed' });
const FAILED = changeState(backfillStates, { to: 'failed' });
const OUT_OF_BUDGET = changeState(backfillStates, { to: 'paused', from: ['running'] });

/**
 * Completes a backfill with no work left.
 * @param query bound to the workspace
 * @returns false if work is left, or it is not running
 */
export async function completeBackfill(query: Query, id: string): Promise<boolean> {
  const [completed] = await query((db) =>
    db
      .updateTable('rule_backfills')
      .set({ ...COMPLETED.set, status_reason: null, finished_at: now })
      .where('id', '=', id)
      .where(COMPLETED.where)
      .where('exhausted', '=', sql.lit(true))
      .where((eb) => eb.not(eb.exists(eb.selectFrom('rule_items as i').select('i.id').where('i.work_id', '=', id))))
      .returning('id'),
  );
  return completed !== undefined;
}

/** Ends a backfill that can't continue. @param query bound to the workspace */
export async function failBackfill(query: Query, id: string, error: { code: string; message: string }): Promise<void> {
  await query((db) =>
    db
      .updateTable('rule_backfills')
      .set({ ...FAILED.set, status_reason: null, error: asJson(error), finished_at: now })
      .where('id', '=', id)
      .where(FAILED.where),
  );
}

/** Pauses a backfill whose budget is used up, unless its cap was raised in the meantime. @param query bound to the workspace */
export async function pauseBackfillForBudget(query: Query, id: string, maxCostUsd: number): Promise<void> {
  await query((db) =>
    db
      .updateTable('rule_backfills')
      .set({
        ...OUT_OF_BUDGET.set,
        status_reason: outOfBudget('execution'),
      })
      .where('id', '=', id)
      .where(OUT_OF_BUDGET.where)
      .where(sql<SqlBool>`max_cost::float8 <= ${maxCostUsd}::float8`),
  );
}
