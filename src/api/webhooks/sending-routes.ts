import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { getDelivery, hasEnded, listAttempts } from '../../services/deliveries/deliveries.ts';
import type { DeliveryWaiter } from '../../services/deliveries/delivery-waiter.ts';
import { replayEvents } from '../../services/deliveries/replay-events.ts';
import { testWebhook } from '../../services/webhooks/test-webhook.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { attemptExample, presentWithAttempts, requestedExample } from '../deliveries/presenter.ts';
import { DeliveryWithAttempts } from '../deliveries/schema.ts';
import { waitMsOf } from '../executions/prefer.ts';
import { ReplayEvents, Replayed, TestWebhook } from './schema.ts';

const tag = 'Webhooks';
const WebhookParams = idParams('webhook');

/** An endpoint has less time than this to answer. */
const MAX_TEST_WAIT_MS = 15_000;

const PreferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({ description: `\`wait=N\` (seconds, at most ${MAX_TEST_WAIT_MS / 1000}) or \`respond-async\`.` }),
});

/** Under `/webhooks/{id}`: what is sent to a webhook because someone asks for it. */
export function sendingRoutes(deps: { idempotency: Idempotency; quotas: Quotas; waiter: DeliveryWaiter }): Route[] {
  /** The delivery as it is when it has ended or the time is up. */
  async function waitForEnd(db: WorkspaceDatabase, id: string, waitMs: number, signal: AbortSignal) {
    const expectation = deps.waiter.expect(id);
    try {
      const now = await getDelivery(db, id);
      const row = hasEnded(now) ? now : await expectation.wait(db, waitMs, signal);
      return presentWithAttempts(row, await listAttempts(db, id));
    } finally {
      expectation.done();
    }
  }

  return [
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/test',
      operationId: 'testWebhook',
      tag,
      summary: 'Send an example of an event to a webhook',
      description:
        'One attempt, signed like any other. Waits for its end up to 15 s and answers with the delivery as it is then; ' +
        '`Prefer: wait=N` waits less, `Prefer: respond-async` not at all.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: WebhookParams,
      body: TestWebhook,
      bodyOptional: true,
      bodyExamples: { 'A regression': { event: 'evaluation.regression' } },
      response: DeliveryWithAttempts,
      responseExample: { ...requestedExample('test', 'delivered'), attempts: [attemptExample] },
      headers: PreferHeader,
      errors: ['invalid_state', 'quota_exceeded'],
      async handler(request) {
        const { db, params, body, signal } = request;
        const waitMs = Math.min(waitMsOf(request.header('Prefer')), MAX_TEST_WAIT_MS);
        const deliveryId = newId();
        const resume = (id: string) => waitForEnd(db, id, waitMs, signal);
        return deps.idempotency.startOnce(request, {
          id: deliveryId,
          async store(query) {
            await testWebhook(query, params.id, { type: body.event, deliveryId });
            await deps.quotas.require(query, 'deliveries');
          },
          start: () => resume(deliveryId),
          resume,
        });
      },
    }),
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/replay',
      operationId: 'replayEvents',
      tag,
      summary: 'Send the events of a time to a webhook again',
      description: 'Those it is subscribed to and that are not on their way to it, by a new delivery for each.',
      scope: 'write',
      status: 201,
      idempotent: true,
      params: WebhookParams,
      body: ReplayEvents,
      bodyExamples: { 'What it missed since': { since: '2026-01-31T12:00:00Z', undelivered_only: true } },
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
