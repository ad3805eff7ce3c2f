import { z } from 'zod';
import { parsePublicId } from '../../domain/ids.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { deleteEvaluation } from '../../services/evaluations/control/delete-evaluation.ts';
import { getCurrentEvaluation, listEvaluations } from '../../services/evaluations/evaluations.ts';
import { presentEvaluation } from './presenter.ts';
import { EVALUATION_SAMPLE } from './samples.ts';
import { Evaluation, EvaluationPage, EvaluationParams, ListQuery } from './schema.ts';

const tag = 'Evaluations';

/** List, read and delete evaluations. */
export function readEvaluationRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/evaluations',
      operationId: 'listEvaluations',
      tag,
      summary: 'List evaluations, newest first',
      scope: 'read',
      query: ListQuery,
      response: EvaluationPage,
      responseExample: { data: [EVALUATION_SAMPLE], next_cursor: null },
      async handler({ db, query }) {
        const { limit, cursor, prompt_name: promptName, schedule_id, improvement_id, ...filter } = query;
        const before = decodeCursor(cursor, z.uuid());
        const scheduleId = schedule_id === undefined ? undefined : parsePublicId('schedule', schedule_id);
        const improvementId = improvement_id === undefined ? undefined : parsePublicId('improvement', improvement_id);
        if (scheduleId === undefined && schedule_id !== undefined) return { data: [], next_cursor: null };
        if (improvementId === undefined && improvement_id !== undefined) return { data: [], next_cursor: null };
        const page = await listEvaluations(db, { promptName, scheduleId, improvementId, ...filter }, limit, before);
        return toPage(page, presentEvaluation, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/evaluations/{id}',
      operationId: 'deleteEvaluation',
      audit: ['evaluation.deleted'],
      tag,
      summary: 'Delete an ended evaluation and its results',
      description:
        'The evaluation can no longer be read or compared. Its usage stays in `GET /usage`. Runs that used it as their baseline keep their results; ' +
        'those still running compare with their threshold instead. The `Idempotency-Key` that created it is forgotten.',
      scope: 'write',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: EVALUATION_SAMPLE,
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentEvaluation(await deleteEvaluation(db, params.id)),
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}',
      operationId: 'getEvaluation',
      tag,
      summary: 'Retrieve an evaluation: its progress, score, tokens and cost',
      scope: 'read',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: EVALUATION_SAMPLE,
      handler: async ({ db, params }) => presentEvaluation(await getCurrentEvaluation(db, params.id)),
    }),
  ];
}
