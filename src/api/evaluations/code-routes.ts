import { z } from 'zod';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { createCodeEvaluation } from '../../services/evaluations/code/create-code-evaluation.ts';
import { finishCodeEvaluation } from '../../services/evaluations/code/finish-code-evaluation.ts';
import { listOpenExamples } from '../../services/evaluations/code/list-open-examples.ts';
import { storeCodeResults } from '../../services/evaluations/code/store-code-results.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import {
  CreateCodeEvaluation,
  OpenExamplePage,
  OpenExamplesQuery,
  StoreCodeResults,
  StoredCodeResults,
} from './code-schema.ts';
import { presentEvaluation } from './presenter.ts';
import { CODE_SAMPLE } from './samples.ts';
import { Evaluation, EvaluationParams } from './schema.ts';

export interface CodeEvaluationDeps {
  idempotency: Idempotency;
  quotas: Quotas;
}

const tag = 'Evaluations';

/** Evaluations that callers run in their own code: start, remaining items, results, end. */
export function codeEvaluationRoutes({ idempotency, quotas }: CodeEvaluationDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/evaluations/code',
      operationId: 'createCodeEvaluation',
      audit: 'none',
      tag,
      summary: 'Create an evaluation of code that the caller runs',
      description:
        'The service calls no model. Your program runs the examples (`GET /evaluations/{id}/open-examples`), scores the outputs, sends the ' +
        'results and finishes the run. The TypeScript and Python clients do all of this. A run that receives no results for 72 hours fails; `retry` continues it.',
      scope: 'execute',
      status: 201,
      idempotent: true,
      body: CreateCodeEvaluation,
      bodyExamples: {
        'Over a dataset': {
          name: 'support/agent',
          dataset: 'support/questions',
          scores: [{ name: 'correct' }, { name: 'polite', weight: 0.5 }],
          threshold: 0.9,
        },
        'Resume an interrupted run': {
          name: 'support/agent',
          examples: [{ id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada!' }],
          scores: [{ name: 'correct' }],
          resume: true,
        },
      },
      response: Evaluation,
      responseExample: {
        ...CODE_SAMPLE,
        status: 'running',
        score: null,
        passed: null,
        results_due_at: '2026-02-03T12:00:00.000Z',
        finished_at: null,
      },
      errors: ['not_found', 'quota_exceeded', 'payload_too_large'],
      handler: (request) =>
        idempotency.createOnce(request, async (query) => {
          const row = await createCodeEvaluation(query, quotas, request.body);
          return { resourceId: row.id, response: presentEvaluation(row) };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/open-examples',
      operationId: 'listOpenExamples',
      tag,
      summary: 'List the examples that have no result yet',
      description: 'In dataset order. After a `retry`, includes the failed examples.',
      scope: 'read',
      params: EvaluationParams,
      query: OpenExamplesQuery,
      response: OpenExamplePage,
      responseExample: {
        data: [{ seq: 0, example_id: 'ada', variables: { name: 'Ada' }, expected: 'Hello Ada!' }],
        next_cursor: null,
      },
      async handler({ db, params, query: { limit, cursor } }) {
        const after = decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
        const from = after === undefined ? 0 : Number(after) + 1;
        const { examples, next } = await listOpenExamples(db, params.id, from, limit);
        return {
          data: examples.map(({ seq, key, variables, expected, metadata }) => ({
            seq,
            example_id: key,
            variables,
            ...(expected !== undefined && { expected }),
            ...(metadata !== null && { metadata }),
          })),
          next_cursor: next === undefined ? null : encodeCursor(String(next)),
        };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/evaluations/{id}/results',
      operationId: 'storeEvaluationResults',
      audit: 'none',
      tag,
      summary: 'Store results of a code evaluation',
      description:
        'Stores all results or none. Only the first result of an example is kept; sending another changes nothing. Ended evaluations and evaluations that the service runs accept no results.',
      scope: 'execute',
      params: EvaluationParams,
      body: StoreCodeResults,
      bodyExamples: {
        'A scored and a failed example': {
          results: [
            {
              seq: 0,
              output: 'Hello Ada!',
              scores: { correct: 1, polite: { score: 1, reason: null } },
              duration_ms: 611,
            },
            { seq: 1, error: { code: 'task_failed', message: 'TimeoutError: no response within 30 s' } },
          ],
        },
      },
      response: StoredCodeResults,
      responseExample: { stored: 2, known: 0 },
      errors: ['invalid_state', 'quota_exceeded', 'payload_too_large'],
      async handler({ db, params, body }) {
        const results = body.results.map(({ duration_ms: durationMs, ...result }) => ({ ...result, durationMs }));
        const stored = await storeCodeResults({ quotas }, db, params.id, results);
        return { stored, known: results.length - stored };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/evaluations/{id}/finish',
      operationId: 'finishEvaluation',
      audit: 'none',
      tag,
      summary: 'Finish a code evaluation',
      description:
        'Summarizes the evaluation and compares it with its baseline once every example has a result. Finishing it again changes nothing.',
      scope: 'execute',
      params: EvaluationParams,
      response: Evaluation,
      responseExample: CODE_SAMPLE,
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentEvaluation(await finishCodeEvaluation(db, params.id)),
    }),
  ];
}
