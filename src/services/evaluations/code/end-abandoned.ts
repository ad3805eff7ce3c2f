import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson } from '../../../db/statement.ts';
import { ABANDONED } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';

const FAILED = changeState(evaluationStates, { to: 'failed', from: ['running'] });

/** Ends a run of code whose results did not arrive in time. Its results are kept, and a retry continues it. @returns whether it was ended */
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
