import { z } from 'zod';
import { EVENT_STREAM, eventStream, serverSentEvent } from '../../http/event-stream.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ProgressHub } from '../../services/streams/progress-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { EVALUATION_SAMPLE } from './samples.ts';
import { EvaluationParams } from './schema.ts';

const sampleEvent = (event: string, evaluation: object) =>
  serverSentEvent({ event, data: { type: event, evaluation } });

/** `/evaluations/{id}/stream` */
export function progressRoutes({
  quotas,
  progress: { evaluations },
}: {
  quotas: Quotas;
  progress: { evaluations: ProgressHub };
}): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/stream',
      operationId: 'streamEvaluation',
      tag: 'Evaluations',
      summary: 'Stream the progress of an evaluation as server-sent events',
      description:
        'Sends `evaluation.progress` with the current evaluation, and again after changes, at most about once a second; then ' +
        '`evaluation.completed`, `evaluation.failed` or `evaluation.canceled`. A stream that ends without one of those three was ' +
        'interrupted, or its evaluation was deleted: reconnect. Closing the connection cancels nothing.',
      scope: 'read',
      params: EvaluationParams,
      response: z.string(),
      responseContentType: EVENT_STREAM,
      responseExample: [
        sampleEvent('evaluation.progress', {
          ...EVALUATION_SAMPLE,
          status: 'running',
          score: null,
          passed: null,
          finished_at: null,
        }),
        sampleEvent('evaluation.completed', EVALUATION_SAMPLE),
      ].join(''),
      errors: ['quota_exceeded'],
      handler: async ({ db, params }) =>
        eventStream(await quotas.stream(db.workspaceId, () => evaluations.open(db, params.id))),
    }),
  ];
}
