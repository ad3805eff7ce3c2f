import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { ProgressFormat } from '../../services/streams/progress-hub.ts';
import { presentEvaluation } from './presenter.ts';

/** The stream of an evaluation as callers see it. Its events have no ids: each says all there is to know. */
export const evaluationStream: ProgressFormat = {
  keepAlive: KEEP_ALIVE,
  encode: ({ type, evaluation }) =>
    serverSentEvent({ event: type, data: { type, evaluation: presentEvaluation(evaluation) } }),
};
