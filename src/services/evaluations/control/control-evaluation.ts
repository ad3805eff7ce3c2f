import type { WorkspaceDatabase } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../../domain/evaluations/evaluation-states.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../evaluations.ts';
import { type ControlDeps, changeEvaluation, signalWorkflow } from './change-evaluation.ts';

/** Stops starting examples; those in flight finish. */
export async function pauseEvaluation(deps: ControlDeps, db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await db.transaction((query) =>
    changeEvaluation(query, id, {
      ways: [changeState(evaluationStates, { to: 'paused' })],
      set: { status_reason: 'paused by request' },
      from: ['scheduled', 'running'],
      done: 'paused',
      isOfService: true,
      audit: ['evaluation.paused'],
    }),
  );
  await signalWorkflow(deps, row);
  return getCurrentEvaluation(db, row.id);
}

/** Ends a run: calls in flight are abandoned, existing results are kept. */
export async function cancelEvaluation(deps: ControlDeps, db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await db.transaction((query) =>
    changeEvaluation(query, id, {
      ways: [changeState(evaluationStates, { to: 'canceled' })],
      set: { status_reason: null, finished_at: now },
      from: UNFINISHED_EVALUATION,
      done: 'canceled',
      audit: ['evaluation.canceled'],
    }),
  );
  await signalWorkflow(deps, row);
  return getCurrentEvaluation(db, row.id);
}
