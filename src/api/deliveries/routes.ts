import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  bodyOfDelivery,
  getDelivery,
  listAttempts,
  listDeliveries,
  redeliver,
} from '../../services/webhooks/deliveries/deliveries.ts';
import { sendNow } from '../../services/webhooks/deliveries/send-now.ts';
import { getWebhook } from '../../services/webhooks/webhooks.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentDelivery, presentWithAttempts } from './presenter.ts';
import { attemptSample, bodySample, deliverySample, requestedSample } from './samples.ts';
import { Delivery, DeliveryPage, DeliveryWithAttempts, ListQuery } from './schema.ts';

const tag = 'Webhooks';
const DeliveryParams = idParams('delivery');

/** `/deliveries`, and the deliveries of a webhook. */
export function deliveryRoutes({
  idempotency,
  quotas,
  client,
}: {
  idempotency: Idempotency;
  quotas: Quotas;
  client: Client;
}): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/webhooks/{id}/deliveries',
      operationId: 'listDeliveries',
      tag,
      summary: 'List the deliveries of a webhook, newest first',
      scope: 'read',
      params: idParams('webhook'),
      query: ListQuery,
      response: DeliveryPage,
      responseExample: { data: [deliverySample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor, ...filter } }) {
        const before = decodeCursor(cursor, z.uuid());
        const { id } = await getWebhook(db, params.id);
        return toPage(await listDeliveries(db, id, filter, limit, before), presentDelivery, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/deliveries/{id}',
      operationId: 'getDelivery',
      tag,
      summary: 'Retrieve a delivery with its attempts',
      description: 'Deliveries are kept when their webhook is deleted.',
      scope: 'read',
      params: DeliveryParams,
      response: DeliveryWithAttempts,
      responseExample: { ...deliverySample, request_body: bodySample, attempts: [attemptSample] },
      async handler({ db, params }) {
        const row = await getDelivery(db, params.id);
        return presentWithAttempts(row, await bodyOfDelivery(db, row), await listAttempts(db, row.id));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/deliveries/{id}/send-now',
      operationId: 'sendDeliveryNow',
      audit: ['webhook.redelivered'],
      tag,
      summary: 'Send a waiting delivery now',
      description:
        'Makes the next attempt of a `waiting` delivery immediately. If it fails, the following attempt keeps its usual delay.',
      scope: 'write',
      // The response of the receiver.
      params: DeliveryParams,
      response: Delivery,
      responseExample: { ...deliverySample, status: 'waiting', status_reason: 'HTTP 503', finished_at: null },
      errors: ['invalid_state'],
      handler: async ({ db, params }) => presentDelivery(await sendNow(db, client, params.id)),
    }),
    defineRoute({
      method: 'post',
      path: '/deliveries/{id}/redeliver',
      operationId: 'redeliver',
      audit: ['webhook.redelivered'],
      tag,
      summary: 'Redeliver an event',
      description:
        'Creates a new delivery of the same event and sends it immediately with the current settings of the webhook.',
      scope: 'write',
      shows: ['status_reason'],
      status: 201,
      idempotent: true,
      params: DeliveryParams,
      response: Delivery,
      responseExample: requestedSample('redelivery', 'queued'),
      errors: ['invalid_state', 'quota_exceeded'],
      handler: (request) =>
        idempotency.createOnce(request, async (query) => {
          const row = await redeliver(query, request.params.id);
          await quotas.require(query, 'deliveries');
          return { resourceId: row.id, response: presentDelivery(row) };
        }),
    }),
  ];
}
