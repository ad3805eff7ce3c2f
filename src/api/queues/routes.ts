import { z } from 'zod';
import { traceUuid } from '../../domain/ids.ts';
import { MAX_QUEUE_ITEMS, MAX_QUEUES } from '../../domain/queues/queue.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { addItems } from '../../services/queues/add-items.ts';
import { listItems } from '../../services/queues/items.ts';
import { deleteQueue, getQueue, listQueues, putQueue } from '../../services/queues/queues.ts';
import { QUEUE_AGREEMENT_BYTES, queueAgreement } from '../../services/queues/reviewer-agreement.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { toExecutionFilter } from '../executions/filter-schema.ts';
import { toTraceFilter } from '../traces/filter-schema.ts';
import { presentItem, presentQueue, presentQueueAgreement } from './presenter.ts';
import { reviewRoutes } from './review-routes.ts';
import { itemSample, queueAgreementSample, queueSample } from './samples.ts';
import {
  AddedItems,
  AddItems,
  ItemsQuery,
  ListQuery,
  PutQueue,
  Queue,
  QueueAgreement,
  QueueItemPage,
  QueueName,
  QueuePage,
  QueueParams,
} from './schema.ts';

const tag = 'Queues';
const DEFAULT_FILTERED = 1_000;

const routes = resource({
  tag,
  path: '/queues',
  name: 'Queue',
  params: QueueParams,
  cursor: QueueName,
  response: Queue,
  page: QueuePage,
  sample: queueSample,
  present: presentQueue,
});

/** `/queues` and its subpaths. */
export function queueRoutes({ quotas }: { quotas: Quotas }): Route[] {
  return [
    ...reviewRoutes({ quotas }),
    routes.list({
      summary: 'List queues by name',
      query: ListQuery,
      read: ({ db, query: { limit } }, after) => listQueues(db.heavy.query, limit, after),
    }),
    defineRoute({
      method: 'get',
      path: '/queues/{name}/items',
      operationId: 'listQueueItems',
      tag,
      summary: 'List the items of a queue in the order they were added',
      scope: 'read',
      params: QueueParams,
      query: ItemsQuery,
      response: QueueItemPage,
      responseExample: { data: [itemSample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor, state } }) {
        const after = decodeCursor(cursor, z.uuid());
        const page = await listItems(db.heavy, params.name, { state, after, limit });
        return toPage(
          page,
          (row) => presentItem(row),
          ({ id }) => id,
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/queues/{name}/agreement',
      operationId: 'getQueueAgreement',
      tag,
      summary: 'Measure reviewer agreement in a queue',
      description:
        "Krippendorff's alpha over the 20,000 newest reviews and their 100,000 newest scores, for each score except text scores.",
      scope: 'read',
      params: QueueParams,
      response: QueueAgreement,
      responseExample: queueAgreementSample,
      async handler(request) {
        await request.reserve(QUEUE_AGREEMENT_BYTES);
        return presentQueueAgreement(await queueAgreement(request.db.heavy.query, request.params.name));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/queues/{name}/items',
      operationId: 'addQueueItems',
      audit: ['queue.items_added'],
      tag,
      summary: 'Add executions, examples of evaluations, traces, steps or pairs of outputs to a queue',
      description:
        `Items already in the queue are left unchanged. A queue can have at most ${MAX_QUEUE_ITEMS.toLocaleString('en-US')} items. ` +
        'A pair is two outputs for the same input, which reviewers compare without seeing which is which.',
      scope: 'write',
      params: QueueParams,
      body: AddItems,
      bodyExamples: {
        'By a filter': { filter: { prompt_name: 'support/greeting' }, limit: 100 },
        'What two evaluations answered': {
          compared: {
            evaluation_ids: ['eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10', 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11'],
          },
          limit: 100,
        },
      },
      response: AddedItems,
      responseExample: { added: 100, present: 0 },
      errors: ['quota_exceeded'],
      handler({ db, params, body }) {
        const { execution_ids: executionIds, examples, traces, pairs, compared, filter, trace_filter, ...some } = body;
        const bounds = { sampleRate: some.sample_rate ?? 1, limit: some.limit ?? DEFAULT_FILTERED };
        return addItems(db, params.name, {
          executionIds,
          examples: examples?.map(({ evaluation_id: evaluationId, example_id: exampleId }) => ({
            evaluationId,
            exampleId,
          })),
          traces: traces?.map(({ trace_id: id, span_id: spanId = null }) => ({ traceId: traceUuid(id), spanId })),
          pairs: pairs?.map((pair) =>
            'execution_ids' in pair
              ? { executionIds: pair.execution_ids }
              : { evaluationIds: pair.evaluation_ids, exampleId: pair.example_id },
          ),
          ...(compared && { compared: { evaluationIds: compared.evaluation_ids, limit: bounds.limit } }),
          ...(filter !== undefined && { filtered: { filter: toExecutionFilter(filter), ...bounds } }),
          ...(trace_filter !== undefined && { filtered: { traceFilter: toTraceFilter(trace_filter), ...bounds } }),
        });
      },
    }),
    routes.get({
      summary: 'Retrieve a queue and its progress',
      read: ({ db, params }) => getQueue(db.heavy.query, params.name),
    }),
    routes.put({
      summary: 'Create a queue, or replace its settings',
      description: `Omitted fields take their defaults. Items are kept. A workspace can have at most ${MAX_QUEUES} queues.`,
      scope: 'write',
      audit: ['queue.created', 'queue.updated'],
      body: PutQueue,
      bodyExamples: {
        'Unhelpful answers': {
          score_names: ['helpful'],
          filter: { prompt_name: 'support/greeting', score: ['helpful<0.5'] },
        },
      },
      errors: ['quota_exceeded'],
      store: ({ db, params, body }) =>
        putQueue(db, params.name, {
          description: body.description ?? null,
          scoreNames: body.score_names,
          filter: body.filter === undefined ? null : toExecutionFilter(body.filter),
          traceFilter: body.trace_filter === undefined ? null : toTraceFilter(body.trace_filter),
          sampleRate: body.sample_rate,
          reviewersPerItem: body.reviewers_per_item,
        }),
    }),
    routes.delete({
      summary: 'Delete a queue and its items',
      description: 'Scores and datasets are kept.',
      scope: 'write',
      audit: ['queue.deleted'],
      remove: ({ db, params }) => deleteQueue(db, params.name),
    }),
  ];
}
