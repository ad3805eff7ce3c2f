import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../../services/evaluations/evaluations.ts';
import type { ProgressFormat } from '../../services/streams/progress-hub.ts';
import { presentEvaluation } from './presenter.ts';

/** The event stream of an evaluation. Its events have no ids because each holds the complete state. */
export const evaluationStream: ProgressFormat<EvaluationRow> = {
  table: 'evaluations',
  read: (db, id) => getCurrentEvaluation(db, id, db.heavy.query),
  statusOf: ({ status }) => status,
  keepAlive: KEEP_ALIVE,
  encode(step, evaluation) {
    const type = `evaluation.${step}`;
    return serverSentEvent({ event: type, data: { type, evaluation: presentEvaluation(evaluation) } });
  },
};
