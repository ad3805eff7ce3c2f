import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { ProgressFormat } from '../../services/streams/progress-hub.ts';
import { presentEvaluation } from './presenter.ts';

/** The event stream of an evaluation. Its events have no ids because each holds the complete state. */
export const evaluationStream: ProgressFormat = {
  keepAlive: KEEP_ALIVE,
  encode: ({ type, evaluation }) =>
    serverSentEvent({ event: type, data: { type, evaluation: presentEvaluation(evaluation) } }),
};
