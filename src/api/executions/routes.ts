import type { Logger } from 'pino';
import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId, parsePublicId } from '../../domain/ids.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { deleteExecution } from '../../services/executions/delete-execution.ts';
import { cancelExecution } from '../../services/executions/execution-changes.ts';
import type { ExecutionWaiter } from '../../services/executions/execution-waiter.ts';
import {
  getExecution,
  insertExecution,
  isFinished,
  listExecutions,
  type PreparedExecution,
  prepareExecution,
  type QueuedExecution,
  queuedOf,
} from '../../services/executions/executions.ts';
import {
  cancelExecutionWorkflow,
  giveUpExecution,
  startOrWithdraw,
} from '../../services/executions/start-execution.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { waitMsOf } from './prefer.ts';
import { presentExecution } from './presenter.ts';
import { CreateExecution, Execution, ExecutionPage, IdParams, ListQuery, PreferHeader } from './schema.ts';

export interface ExecutionRouteDeps extends WorkflowStarter {
  idempotency: Idempotency;
  quotas: Quotas;
  models: Models;
  waiter: ExecutionWaiter;
  log: Logger;
}

const tag = 'Executions';
const RETRY_AFTER_SECONDS = 5;

const example = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  status: 'completed',
  prompt_name: 'support/greeting',
  prompt_version: 1,
  model: 'openai/gpt-4o-mini',
  provider: 'openai',
  parameters: { temperature: 0.2 },
  variables: { name: 'Ada' },
  input: 'Greet Ada in one sentence.',
  output: 'Hello Ada, lovely to meet you!',
  finish_reason: 'stop',
  tokens: { input: 12, output: 8, cached_input: 0, reasoning: 0, total: 20 },
  cost: {
    amount: '0.0000066',
    currency: 'USD',
    pricing: {
      source: 'genai-prices@0.1.8',
      model: 'gpt-4o-mini',
      input_per_million: '0.15',
      cached_input_per_million: '0.075',
      output_per_million: '0.6',
    },
  },
  latency: { queue_ms: 9, model_ms: 611, total_ms: 634 },
  attempts: 1,
  error: null,
  metadata: { customer: 'acme' },
  workflow_id: 'execute-prompt/exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:00.000Z',
  started_at: '2026-01-31T12:00:00.009Z',
  finished_at: '2026-01-31T12:00:00.634Z',
};

/** `/executions` and what is under it. */
export function executionRoutes(deps: ExecutionRouteDeps): Route[] {
  /** Starts what is queued, and waits for its end. */
  async function runAndWait(
    db: WorkspaceDatabase,
    id: string,
    queued: QueuedExecution | undefined,
    waitMs: number,
    signal: AbortSignal,
  ) {
    const expectation = deps.waiter.expect(id);
    try {
      if (queued !== undefined) await startOrWithdraw(deps, db, queued);
      else {
        const row = await getExecution(db, id);
        if (isFinished(row.status)) return presentExecution(row);
        // Whoever created it may not have come to that.
        if (row.status === 'queued') await startOrWithdraw(deps, db, queuedOf(db.workspaceId, row));
      }
      return presentExecution(await expectation.wait(db, waitMs, signal));
    } catch (error) {
      // It was withdrawn: it could not be started, or not in time.
      if (error instanceof ApiError && error.code === 'not_found')
        throw new ApiError('temporarily_unavailable', 'The run could not be started. Try again in a few seconds.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      throw error;
    } finally {
      expectation.done();
    }
  }

  return [
    defineRoute({
      method: 'post',
      path: '/executions',
      operationId: 'createExecution',
      tag,
      summary: 'Run a prompt',
      description:
        'Waits for the end up to 60 s and answers with the record as it is then; the run goes on. `Prefer: wait=N` (0–300 ' +
        'seconds) sets the wait, `Prefer: respond-async` does not wait. A run that the model refused is `failed`, with 201.',
      scope: 'execute',
      status: 201,
      idempotent: true,
      body: CreateExecution,
      bodyExamples: { Greeting: { prompt_name: 'support/greeting', variables: { name: 'Ada' } } },
      response: Execution,
      responseExample: example,
      headers: PreferHeader,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded'],
      async handler(request) {
        const { prompt_name: promptName, ...body } = request.body;
        const waitMs = waitMsOf(request.header('Prefer'));
        const { db } = request;
        const beganAt = performance.now();
        const id = newId();
        let queued: PreparedExecution | undefined;
        let isStarted = false;
        try {
          return await deps.idempotency.createOnce(
            request,
            async (query) => {
              queued = await prepareExecution(query, db.workspaceId, deps.models, { id, promptName, ...body });
              const stored = queued;
              await deps.quotas.storeExecution(query, db.workspaceId, () => insertExecution(query, stored));
              return { resourceId: id };
            },
            async (resourceId) => {
              isStarted = resourceId === id;
              return runAndWait(db, resourceId, isStarted ? queued : undefined, waitMs, request.signal);
            },
            { single: true },
          );
        } catch (error) {
          // Also where the database's answer was lost: the row may be there all the same.
          if (queued !== undefined) await giveUpExecution(deps, db, id, isStarted ? beganAt : undefined);
          throw error;
        }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/executions',
      operationId: 'listExecutions',
      tag,
      summary: 'List executions, newest first',
      scope: 'read',
      query: ListQuery,
      response: ExecutionPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor, prompt_name: promptName, ...filter } }) {
        const before = decodeCursor(cursor, z.uuid());
        const page = await listExecutions(db, { promptName, ...filter }, limit, before);
        return toPage(page, presentExecution, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/executions/{id}',
      operationId: 'getExecution',
      tag,
      summary: 'Read an execution: its answer, tokens, cost and latency',
      scope: 'read',
      params: IdParams,
      response: Execution,
      responseExample: example,
      handler: async ({ db, params }) =>
        presentExecution(await getExecution(db, parsePublicId('execution', params.id))),
    }),
    defineRoute({
      method: 'delete',
      path: '/executions/{id}',
      operationId: 'deleteExecution',
      tag,
      summary: 'Delete an execution that has ended',
      description:
        'What it used stays in `GET /usage`. An `Idempotency-Key` that led to it is forgotten: a request with that key runs anew.',
      scope: 'write',
      params: IdParams,
      response: Execution,
      responseExample: example,
      errors: ['invalid_state'],
      handler: async ({ db, params }) =>
        presentExecution(await deleteExecution(db, parsePublicId('execution', params.id))),
    }),
    defineRoute({
      method: 'post',
      path: '/executions/{id}/cancel',
      operationId: 'cancelExecution',
      tag,
      summary: 'Cancel an execution that has not ended',
      scope: 'execute',
      params: IdParams,
      response: Execution,
      responseExample: { ...example, status: 'canceled', output: null, finish_reason: null },
      errors: ['invalid_state'],
      async handler({ db, params }) {
        const row = await cancelExecution(db, params.id);
        await cancelExecutionWorkflow(deps.client, row.id, deps.log);
        return presentExecution(row);
      },
    }),
  ];
}
