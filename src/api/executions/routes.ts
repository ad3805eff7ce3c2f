import { z } from 'zod';
import { EVENT_STREAM, eventStream } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';
import { waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { deleteExecution } from '../../services/executions/delete-execution.ts';
import { deliveriesOfExecution, MAX_EXECUTION_DELIVERIES } from '../../services/executions/execution-deliveries.ts';
import type { OnExecutionEnd } from '../../services/executions/execution-metrics.ts';
import { cancelExecutionWorkflowLater } from '../../services/executions/execution-workflow.ts';
import { EXAMINED_EXECUTIONS, readExecutionView, wholeExecution } from '../../services/executions/executions.ts';
import { COUNTED_EXECUTIONS, countFacets } from '../../services/executions/facets.ts';
import { cancelExecution } from '../../services/executions/run/end-execution.ts';
import {
  type ExecutionSort,
  listSortedExecutions,
  type SortedPosition,
} from '../../services/executions/sorted-executions.ts';
import { scoresOf } from '../../services/scores/scores.ts';
import { searchExecutions } from '../../services/search/find-executions.ts';
import { presentDelivery } from '../deliveries/presenter.ts';
import { deliverySample } from '../deliveries/samples.ts';
import { presentScore } from '../scores/presenter.ts';
import { REPEATABLE, toExecutionSearch } from './filter-schema.ts';
import { presentExecution } from './presenter.ts';
import { type RunExecutionDeps, runExecution, streamExecution } from './run-execution.ts';
import { executionBodies, executionSample, facetsSample } from './samples.ts';
import {
  CreateExecution,
  Execution,
  ExecutionDeliveries,
  ExecutionFacets,
  ExecutionPage,
  ExecutionParams,
  FacetsQuery,
  ListQuery,
  PreferHeader,
} from './schema.ts';
import { executionStream } from './stream-format.ts';

const tag = 'Executions';

/** A cursor in a sorted list: the order, the value and id of an execution, and the first and last id of the sorted range. */
const positionIn = (sort: ExecutionSort) => {
  const parts = z.tuple([z.literal(sort), z.coerce.number(), z.uuid(), z.uuid(), z.uuid()]);
  return z.string().refine((text) => parts.safeParse(text.split(' ')).success);
};

function toPosition(cursor: string | undefined, sort: ExecutionSort): SortedPosition | undefined {
  const text = decodeCursor(cursor, positionIn(sort));
  if (text === undefined) return undefined;
  const [, value, id = '', from = '', to = ''] = text.split(' ');
  return { value: Number(value), id, span: { from, to } };
}

const toCursor = ({ value, id, span }: SortedPosition, sort: ExecutionSort) =>
  encodeCursor([sort, value, id, span.from, span.to].join(' '));

/** `/executions` and its subpaths. */
export function executionRoutes(deps: RunExecutionDeps & { onExecutionEnd?: OnExecutionEnd | undefined }): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/executions',
      operationId: 'createExecution',
      audit: 'none',
      tag,
      summary: 'Run a prompt',
      description:
        'Waits up to 60 s for the execution to end and returns its current state; an unfinished execution continues. `Prefer: wait=N` (0–300 seconds) sets ' +
        'the wait; `Prefer: respond-async` does not wait. An execution that the model rejects is `failed` and also returns 201. ' +
        'With `Accept: text/event-stream` the response is the stream of the execution, as at `GET /executions/{id}/stream`.',
      scope: 'execute',
      shows: [
        'parameters',
        'variables',
        'input',
        'tools',
        'tool_choice',
        'includes',
        'output',
        'output_json',
        'tool_calls',
        'calls',
        'error',
        'metadata',
      ],
      status: 201,
      idempotent: true,
      body: CreateExecution,
      maxBodyBytes: MAX_BODY_BYTES_WITH_FILES,
      bodyExamples: executionBodies,
      response: Execution,
      responseExample: executionSample,
      otherContentTypes: [EVENT_STREAM],
      headers: PreferHeader,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded'],
      async handler(request) {
        const { prompt_name: promptName, rollout_key: rolloutKey, ...body } = request.body;
        const execution = { promptName, rolloutKey, ...body };
        const waitMs = waitMsOf(request.header('Prefer'));
        if (request.accepts('application/json', EVENT_STREAM) !== EVENT_STREAM)
          return runExecution(deps, request, execution, { waitMs, present: presentExecution });
        const { events } = await streamExecution(deps, request, execution, () => executionStream);
        return eventStream(events);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/executions',
      operationId: 'listExecutions',
      tag,
      summary: 'List executions, newest first by default',
      description:
        'With unindexed conditions, a page examines a limited number of executions, whether or not they match. It may hold fewer than `limit`, or none, and ' +
        'still have a `next_cursor`.',
      scope: 'read',
      query: ListQuery,
      repeatable: REPEATABLE,
      response: ExecutionPage,
      responseExample: { data: [executionSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, sort, ...filter } }) {
        if (sort !== undefined) {
          const after = toPosition(cursor, sort);
          const sorted = await listSortedExecutions(db, toExecutionSearch(filter), sort, limit, after);
          return {
            data: sorted.rows.map(presentExecution),
            next_cursor: sorted.next ? toCursor(sorted.next, sort) : null,
          };
        }
        const before = decodeCursor(cursor, z.uuid());
        const { rows, next } = await searchExecutions(db, toExecutionSearch(filter), limit, before);
        return { data: rows.map(presentExecution), next_cursor: next === undefined ? null : encodeCursor(next) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/executions/facets',
      operationId: 'countExecutions',
      tag,
      summary: 'Count executions by status, prompt, version, model, label, origin and error',
      description:
        `Counts the newest ${COUNTED_EXECUTIONS.toLocaleString('en-US')} matching executions or, with unindexed conditions, those that match among the newest ` +
        `${EXAMINED_EXECUTIONS.toLocaleString('en-US')}. \`complete\` says whether all matches were counted.`,
      scope: 'read',
      query: FacetsQuery,
      repeatable: REPEATABLE,
      response: ExecutionFacets,
      responseExample: facetsSample,
      handler: async ({ db, query }) => countFacets(db, toExecutionSearch(query)),
    }),
    defineRoute({
      method: 'get',
      path: '/executions/{id}',
      operationId: 'getExecution',
      tag,
      summary: 'Retrieve an execution: its output, tokens, cost and latency',
      scope: 'read',
      params: ExecutionParams,
      response: Execution,
      responseExample: executionSample,
      async handler(request) {
        const { db, params } = request;
        const seen = await readExecutionView(db, params.id);
        const execution = presentExecution(await wholeExecution(request, seen));
        // Most executions have none, and they are read often.
        const scores = seen.hasScores ? await scoresOf(db.query, { executionId: params.id }) : [];
        return scores.length === 0 ? execution : { ...execution, scores: scores.map(presentScore) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/executions/{id}/deliveries',
      operationId: 'listExecutionDeliveries',
      tag,
      summary: 'List the webhook deliveries of an execution, oldest first',
      description: `The newest ${MAX_EXECUTION_DELIVERIES}. Empty if the execution has not ended or no webhook was subscribed.`,
      scope: 'read',
      params: ExecutionParams,
      response: ExecutionDeliveries,
      responseExample: { data: [deliverySample] },
      handler: async ({ db, params }) => ({ data: (await deliveriesOfExecution(db, params.id)).map(presentDelivery) }),
    }),
    defineRoute({
      method: 'delete',
      path: '/executions/{id}',
      operationId: 'deleteExecution',
      audit: ['execution.deleted'],
      tag,
      summary: 'Delete an ended execution',
      description:
        'Tokens and cost stay in `GET /usage`. The `Idempotency-Key` is forgotten: a request with that key runs again.',
      scope: 'write',
      params: ExecutionParams,
      response: Execution,
      responseExample: executionSample,
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentExecution(await deleteExecution(db, params.id)),
    }),
    defineRoute({
      method: 'post',
      path: '/executions/{id}/cancel',
      operationId: 'cancelExecution',
      audit: ['execution.canceled'],
      tag,
      summary: 'Cancel an execution',
      scope: 'execute',
      params: ExecutionParams,
      response: Execution,
      responseExample: { ...executionSample, status: 'canceled', output: null, finish_reason: null },
      errors: ['invalid_state'],
      async handler({ db, params }) {
        const row = await cancelExecution(db, params.id, deps.onExecutionEnd);
        cancelExecutionWorkflowLater(deps.client, row.id, deps.log);
        return presentExecution(row);
      },
    }),
  ];
}
