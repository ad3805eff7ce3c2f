import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson } from '../../../db/statement.ts';
import { ABANDONED } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';

const FAILED = changeState(evaluationStates, { to: 'failed', from: ['running'] });

/** Ends a run of code whose results have not come in time. What came stays, and a retry goes on with it. @returns whether it was so */
export async function endAbandoned(query: Query, id: string): Promise<boolean> {
  const ended = await query((db) =>
    db
      .updateTable('evaluations')
      .set({ ...FAILED.set, error: asJson(ABANDONED), finished_at: now })
      .where('id', '=', id)
      .where('results_due_at', '<', now)
      .where(FAILED.where)
      .returning('id'),
  );
  return ended.length > 0;
}
