import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { RunComparison } from '../../domain/comparison.ts';
import { newId, parsePublicId, publicId } from '../../domain/ids.ts';
import type { EvaluatorPool } from '../../evaluators/evaluator-pool.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, RawAnswer, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { unlessWithdrawn } from '../../services/acceptance/withdrawal.ts';
import {
  acceptEvaluation,
  giveUpEvaluation,
  startOrWithdrawEvaluation,
} from '../../services/evaluations/accept-evaluation.ts';
import { compareEvaluations } from '../../services/evaluations/compare-evaluations.ts';
import {
  type ControlDeps,
  cancelEvaluation,
  pauseEvaluation,
  resumeEvaluation,
  retryEvaluation,
} from '../../services/evaluations/control-evaluation.ts';
import { createEvaluation } from '../../services/evaluations/create-evaluation.ts';
import { deleteEvaluation } from '../../services/evaluations/delete-evaluation.ts';
import {
  type EvaluationRow,
  getCurrentEvaluation,
  getEvaluation,
  listEvaluations,
} from '../../services/evaluations/evaluations.ts';
import { eachResultPage, listResults } from '../../services/evaluations/results.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { comparisonExample, evaluationExample, resultExample } from './examples.ts';
import { presentEvaluation, presentResult } from './presenter.ts';
import { resultsAsCsv } from './results-csv.ts';
import {
  CompareParams,
  CreateEvaluation,
  Evaluation,
  EvaluationPage,
  EvaluationParams,
  ListQuery,
  ResultPage,
  ResultsQuery,
  ResumeEvaluation,
} from './schema.ts';
import { toNewEvaluation } from './to-new-evaluation.ts';

export interface EvaluationRouteDeps extends ControlDeps {
  idempotency: Idempotency;
  quotas: Quotas;
  models: Models;
  evaluatorPool: EvaluatorPool;
}

const tag = 'Evaluations';

/** `/evaluations` and what is under it. */
export function evaluationRoutes(deps: EvaluationRouteDeps): Route[] {
  /** `POST /evaluations/{id}/pause` and its likes. */
  const control = (
    action: string,
    summary: string,
    description: string,
    run: (deps: EvaluationRouteDeps, db: WorkspaceDatabase, id: string) => Promise<EvaluationRow>,
    responseExample: object,
  ) =>
    defineRoute({
      method: 'post',
      path: `/evaluations/{id}/${action}`,
      operationId: `${action}Evaluation`,
      tag,
      summary,
      description,
      scope: 'execute',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: { ...evaluationExample, ...responseExample },
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentEvaluation(await run(deps, db, params.id)),
    });

  return [
    defineRoute({
      method: 'post',
      path: '/evaluations',
      operationId: 'createEvaluation',
      tag,
      summary: 'Evaluate a prompt over a dataset or inline examples',
      description:
        'Answers at once; the run goes on by itself, through restarts of anything, and pays no model call twice. ' +
        'An example of a dataset that lacks a variable of the prompt counts as failed.',
      scope: 'execute',
      status: 201,
      idempotent: true,
      body: CreateEvaluation,
      bodyExamples: {
        'Over a dataset': {
          prompt_name: 'support/greeting',
          dataset: 'support/questions',
          evaluators: [{ type: 'exact_match' }],
          threshold: 0.9,
          max_cost: 2.5,
        },
        'Over inline examples': {
          prompt_name: 'support/greeting',
          examples: [{ id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada!' }],
          evaluators: [{ type: 'contains' }],
        },
      },
      response: Evaluation,
      responseExample: { ...evaluationExample, status: 'scheduled', score: null, passed: null, finished_at: null },
      errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'payload_too_large', 'temporarily_unavailable'],
      async handler(request) {
        const { db, body } = request;
        // Before the transaction: it may take seconds.
        await deps.evaluatorPool.check(db.workspaceId, body.evaluators, 'evaluators');
        const id = newId();
        const start = async (id: string) => {
          const row = await unlessWithdrawn(getEvaluation(db.query, id));
          const { prompt_name: promptName, prompt_version: promptVersion, model, retries } = row;
          const stored = { id, workspaceId: db.workspaceId, promptName, promptVersion, model, retries };
          await startOrWithdrawEvaluation(deps, db, stored);
          await unlessWithdrawn(acceptEvaluation(db, id));
          return presentEvaluation(row);
        };
        return deps.idempotency.startOnce(request, {
          id,
          async store(query) {
            const { start_at: startAt, ...fields } = body;
            await createEvaluation(query, db.workspaceId, deps.models, { ...toNewEvaluation(fields), startAt, id });
            await deps.quotas.require(query, 'evaluations');
          },
          start: () => start(id),
          resume: start,
          withdraw: (beganAt) => giveUpEvaluation(deps, db, id, beganAt),
        });
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations',
      operationId: 'listEvaluations',
      tag,
      summary: 'List evaluations, newest first',
      scope: 'read',
      query: ListQuery,
      response: EvaluationPage,
      responseExample: { data: [evaluationExample], next_cursor: null },
      async handler({ db, query: { limit, cursor, prompt_name: promptName, schedule_id, ...filter } }) {
        const before = decodeCursor(cursor, z.uuid());
        const scheduleId = schedule_id === undefined ? undefined : parsePublicId('schedule', schedule_id);
        if (schedule_id !== undefined && scheduleId === undefined) return { data: [], next_cursor: null };
        const page = await listEvaluations(db, { promptName, scheduleId, ...filter }, limit, before);
        return toPage(page, presentEvaluation, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results',
      operationId: 'listEvaluationResults',
      tag,
      summary: 'What came of each example',
      scope: 'read',
      params: EvaluationParams,
      query: ResultsQuery,
      response: ResultPage,
      responseExample: { data: [resultExample], next_cursor: null },
      alsoAnswers: ['text/csv'],
      async handler({ db, params, query: { limit, cursor, format, ...filter } }) {
        const run = await getEvaluation(db.query, params.id);
        const after = decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
        if (format === 'csv') {
          const names = run.evaluators.map(({ name }) => name);
          const csv = resultsAsCsv(eachResultPage(db.heavy.query, run.id, filter), names);
          return new RawAnswer('text/csv', csv, {
            'Content-Disposition': `attachment; filename="${publicId('evaluation', run.id)}.csv"`,
          });
        }
        const page = await listResults(
          db.query,
          run.id,
          filter,
          limit,
          after === undefined ? undefined : Number(after),
        );
        return toPage(page, presentResult, (row) => String(row.seq));
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/compare/{other}',
      operationId: 'compareEvaluations',
      tag,
      summary: 'What changed from another evaluation to this one',
      description:
        '`{other}` is the run before (`a` in the answer), `{id}` the run after (`b`): a regression is an example that scores ' +
        'lower in `{id}`. The interval and the verdict tell noise from a real difference.',
      scope: 'read',
      params: CompareParams,
      response: RunComparison.meta({ id: 'EvaluationComparison' }),
      responseExample: comparisonExample,
      errors: ['invalid_state'],
      handler: ({ db, params }) => compareEvaluations(db, params.other, params.id),
    }),
    control(
      'pause',
      'Pause an evaluation',
      'No more examples are begun; those in flight end and are kept.',
      pauseEvaluation,
      { status: 'paused', status_reason: 'paused by request' },
    ),
    defineRoute({
      method: 'post',
      path: '/evaluations/{id}/resume',
      operationId: 'resumeEvaluation',
      tag,
      summary: 'Resume a paused evaluation, with a higher budget if need be',
      description:
        'With `max_cost`, an evaluation that is still running or scheduled is given the new budget, too, so that it need not pause.',
      scope: 'execute',
      params: EvaluationParams,
      body: ResumeEvaluation,
      bodyOptional: true,
      bodyExamples: { 'As it was': {}, 'With more money': { max_cost: 5 } },
      response: Evaluation,
      responseExample: { ...evaluationExample, status: 'running' },
      errors: ['invalid_state'],
      handler: async ({ db, params, body }) =>
        presentEvaluation(await resumeEvaluation(deps, db, params.id, body.max_cost)),
    }),
    control(
      'cancel',
      'Cancel an evaluation',
      'Calls in flight are given up; results so far stay readable.',
      cancelEvaluation,
      { status: 'canceled', score: null, passed: null },
    ),
    control(
      'retry',
      'Run the failed examples of an ended evaluation again',
      'Examples with a score keep it and are not paid for again; those that were not reached are run, too.',
      retryEvaluation,
      { status: 'running', retries: 1 },
    ),
    defineRoute({
      method: 'delete',
      path: '/evaluations/{id}',
      operationId: 'deleteEvaluation',
      tag,
      summary: 'Delete an evaluation that has ended, with its results',
      description:
        'It can be read and compared with no more. What it used stays in `GET /usage`; runs that it was the baseline of keep what came ' +
        'of that, and one that has not ended is compared with its threshold instead. An `Idempotency-Key` that led to it is forgotten.',
      scope: 'write',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: evaluationExample,
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentEvaluation(await deleteEvaluation(db, params.id)),
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}',
      operationId: 'getEvaluation',
      tag,
      summary: 'Read an evaluation: its progress, score, tokens and cost',
      scope: 'read',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: evaluationExample,
      handler: async ({ db, params }) => presentEvaluation(await getCurrentEvaluation(db, params.id)),
    }),
  ];
}
