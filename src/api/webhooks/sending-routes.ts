import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import { idParams } from '../../http/fields.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import { waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { bodyOfDelivery, getDelivery, hasEnded, listAttempts } from '../../services/webhooks/deliveries/deliveries.ts';
import type { DeliveryWaiter } from '../../services/webhooks/deliveries/delivery-waiter.ts';
import { replayEvents } from '../../services/webhooks/deliveries/replay-events.ts';
import { testWebhook } from '../../services/webhooks/test-webhook.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentWithAttempts } from '../deliveries/presenter.ts';
import { attemptSample, bodySample, requestedSample } from '../deliveries/samples.ts';
import { DeliveryWithAttempts } from '../deliveries/schema.ts';
import { ReplayEvents, Replayed, TestWebhook } from './schema.ts';

const tag = 'Webhooks';
const WebhookParams = idParams('webhook');

/** Longer than an attempt takes by default. */
const MAX_TEST_WAIT_MS = 15_000;

const PreferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({ description: `\`wait=N\` (seconds, at most ${MAX_TEST_WAIT_MS / 1000}) or \`respond-async\`.` }),
});

/** `/webhooks/{id}/test` and `/webhooks/{id}/replay`: deliveries on request. */
export function sendingRoutes(deps: { idempotency: Idempotency; quotas: Quotas; waiter: DeliveryWaiter }): Route[] {
  /** Returns the delivery when it has ended, or its current state when the wait is over. */
  async function waitForEnd(db: WorkspaceDatabase, id: string, waitMs: number, signal: AbortSignal) {
    const expectation = deps.waiter.expect(id);
    try {
      const now = await getDelivery(db, id);
      const row = hasEnded(now) ? now : await expectation.wait(db, waitMs, signal);
      return presentWithAttempts(row, await bodyOfDelivery(db, row), await listAttempts(db, id));
    } finally {
      expectation.done();
    }
  }

  return [
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/test',
      operationId: 'testWebhook',
      audit: ['webhook.tested'],
      tag,
      summary: 'Send a test event to a webhook',
      description:
        'Sends a sample event in a single, signed attempt. Waits up to 15 s for it to end and returns the delivery; ' +
        '`Prefer: wait=N` waits less, `Prefer: respond-async` not at all.',
      scope: 'write',
      // Includes the response of the receiver.
      status: 201,
      idempotent: true,
      params: WebhookParams,
      body: TestWebhook,
      bodyOptional: true,
      bodyExamples: { 'A regression event': { event: 'evaluation.regression' } },
      response: DeliveryWithAttempts,
      responseExample: { ...requestedSample('test', 'delivered'), request_body: bodySample, attempts: [attemptSample] },
      headers: PreferHeader,
      errors: ['invalid_state', 'quota_exceeded'],
      async handler(request) {
        const { db, params, body, signal } = request;
        const waitMs = Math.min(waitMsOf(request.header('Prefer')), MAX_TEST_WAIT_MS);
        const deliveryId = newId();
        const claim = await deps.idempotency.claim(db, idempotencyKeyOf(request), async () => async (query) => {
          await testWebhook(query, params.id, { type: body.event, deliveryId });
          await deps.quotas.require(query, 'deliveries');
          return { resourceId: deliveryId };
        });
        const first = firstResponse(request, claim);
        if (first !== undefined) return first.response;
        const response = await waitForEnd(db, claim.resourceId, waitMs, signal);
        return deps.idempotency.remember(request, claim, response);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/replay',
      operationId: 'replayEvents',
      audit: ['webhook.replayed'],
      tag,
      summary: 'Replay events to a webhook',
      description:
        'Makes a new delivery of each event in a time range that the webhook is subscribed to. Events with an unfinished delivery are left out.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: WebhookParams,
      body: ReplayEvents,
      bodyExamples: { 'Missed events': { since: '2026-01-31T12:00:00Z', undelivered_only: true } },
      response: Replayed,
      responseExample: { replayed: 17 },
      errors: ['invalid_state', 'quota_exceeded'],
      handler: (request) =>
        deps.idempotency.createOnce(request, async (query) => {
          const { id } = request.params;
          const { since, until, undelivered_only: undeliveredOnly } = request.body;
          const replayed = await replayEvents(query, id, { since, until, undeliveredOnly });
          await deps.quotas.require(query, 'deliveries');
          return { resourceId: id, response: { replayed } };
        }),
    }),
  ];
}
