import { LEASE_MINUTES } from '../../domain/queues/queue.ts';
import { requireAlso } from '../../domain/scopes.ts';
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts';
import { holderOf } from '../../services/members/holder.ts';
import { leaseNext } from '../../services/queues/lease.ts';
import { completeItem, type Reviewing, returnItem, skipItem } from '../../services/queues/review.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentItem } from './presenter.ts';
import { itemSample } from './samples.ts';
import { CompleteItem, ItemParams, NextItem, QueueItem, QueueParams } from './schema.ts';

const tag = 'Queues';
const scope = ['score', 'write'] as const;

const reviewing = ({
  params,
  key,
}: Pick<RouteRequest<{ name: string; id: string }, unknown, unknown>, 'params' | 'key'>): Reviewing => ({
  queueName: params.name,
  itemId: params.id,
  reviewer: holderOf(key),
});

/** Reviewer operations. Reading the subject's content is a separate request and needs the scope `read`. */
export function reviewRoutes({ quotas }: { quotas: Quotas }): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/queues/{name}/next',
      operationId: 'leaseQueueItem',
      // A lease expires automatically.
      audit: 'none',
      tag,
      summary: 'Lease the next item of a queue for review',
      description:
        `Leases the item to the caller (the member, otherwise the key or session) for ${LEASE_MINUTES} minutes. No one else gets it during that time, unless the queue wants several reviewers. ` +
        'A caller that already holds an item gets it again, with its lease renewed.',
      scope,
      params: QueueParams,
      response: NextItem,
      responseExample: { item: itemSample },
      async handler({ db, params, key }) {
        const reviewer = holderOf(key);
        const item = await leaseNext(db, params.name, reviewer);
        return { item: item && presentItem(item, reviewer) };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/queues/{name}/items/{id}/complete',
      operationId: 'completeQueueItem',
      audit: ['queue.item_completed', 'dataset.created', 'dataset.updated'],
      tag,
      summary: 'Complete an item with scores and an optional correction',
      description:
        'Stores scores with the source `person`. A correction becomes the `expected` value of an example in a new version of `dataset`, which requires the scope `write`. ' +
        'Repeating the same request changes nothing; different scores replace those of the caller. ' +
        'Each score of a pair is `first`, `second` or `tie`. It is stored as a score of the later output: 1 if that is better, 0.5 for a tie, otherwise 0.',
      scope,
      params: ItemParams,
      body: CompleteItem,
      bodyExamples: { Score: { scores: [{ name: 'helpful', value: 1 }] } },
      response: QueueItem,
      responseExample: itemSample,
      errors: ['invalid_state', 'quota_exceeded'],
      async handler(request) {
        const { db, key, body } = request;
        const { scores, correction: expected, dataset } = body;
        if (dataset !== undefined) requireAlso(key.scopes, 'write', 'A correction');
        const correction = expected === undefined || dataset === undefined ? undefined : { expected, dataset };
        return presentItem(await completeItem(db, quotas, reviewing(request), { scores, correction }), holderOf(key));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/queues/{name}/items/{id}/skip',
      operationId: 'skipQueueItem',
      audit: ['queue.item_skipped'],
      tag,
      summary: 'Skip an item and leave it to other reviewers',
      scope,
      params: ItemParams,
      response: QueueItem,
      responseExample: itemSample,
      errors: ['invalid_state'],
      handler: async (request) => presentItem(await skipItem(request.db, reviewing(request)), holderOf(request.key)),
    }),
    defineRoute({
      method: 'post',
      path: '/queues/{name}/items/{id}/back',
      operationId: 'returnQueueItem',
      audit: ['queue.item_returned', 'dataset.updated'],
      tag,
      summary: 'Return an item: undo its lease, skip or completion',
      description:
        'Ends a lease, or undoes a skip or completion of the caller: deletes its scores and removes its correction in a new dataset version.',
      scope,
      params: ItemParams,
      response: QueueItem,
      responseExample: itemSample,
      errors: ['quota_exceeded'],
      handler: async (request) =>
        presentItem(await returnItem(request.db, quotas, reviewing(request)), holderOf(request.key)),
    }),
  ];
}
