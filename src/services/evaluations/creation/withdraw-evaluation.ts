import { now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { createRowWithdrawal, type WithGone } from '../../acceptance/withdraw-row.ts';
import { SIGNAL_PENDING } from '../evaluations.ts';

const CANCEL = changeState(evaluationStates, { to: 'canceled' });

/** Can still read the rows that the same statement deletes. The sweep deletes the examples of a run of recorded outputs. */
const deleteBelongings = (db: WithGone) =>
  db
    .with('gone_recorded', (cte) =>
      cte
        .deleteFrom('evaluations as b')
        .using(['gone', 'evaluations as e'])
        .whereRef('e.id', '=', 'gone.id')
        .whereRef('e.workspace_id', '=', 'gone.workspace_id')
        .whereRef('b.workspace_id', '=', 'gone.workspace_id')
        .whereRef('b.id', '=', 'e.baseline_id')
        .where('e.baseline_mode', '=', 'recorded')
        .where(inStates(evaluationStates, ['scheduled'], 'b')),
    )
    .with('gone_examples', (cte) =>
      cte
        .deleteFrom('dataset_versions as v')
        .using(['gone', 'evaluations as e'])
        .whereRef('e.id', '=', 'gone.id')
        .whereRef('e.workspace_id', '=', 'gone.workspace_id')
        .whereRef('v.workspace_id', '=', 'gone.workspace_id')
        .whereRef('v.id', '=', 'e.examples_id')
        .where('v.dataset_id', 'is', null)
        // Otherwise they also belong to another run.
        .where('e.source_evaluation_id', 'is', null),
    );

export const { withdrawUnaccepted: withdrawUnacceptedEvaluation, withdraw: withdrawEvaluation } = createRowWithdrawal({
  table: 'evaluations',
  isUnbegun: inStates(evaluationStates, ['scheduled']),
  deleteBelongings,
  cancel: (db, id) =>
    db.with('gone', (cte) =>
      cte
        .updateTable('evaluations')
        .set({ ...CANCEL.set, finished_at: now, ...SIGNAL_PENDING })
        .where('id', '=', id)
        .where(CANCEL.where)
        .returning(['id', 'workspace_id']),
    ),
});
