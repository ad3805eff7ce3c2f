import { z } from 'zod';
import { generateSigningSecret } from '../../domain/webhook-signature.ts';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deleteWebhook,
  disableByRequest,
  enableWebhook,
  OVERLAP_HOURS,
  rotateSecret,
  updateWebhook,
} from '../../services/webhooks/change-webhook.ts';
import {
  createWebhook,
  getWebhook,
  listWebhooks,
  type WebhookRow,
  type WebhookRules,
} from '../../services/webhooks/webhooks.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentWebhook, secretExample, webhookExample } from './presenter.ts';
import {
  CreateWebhook,
  ListQuery,
  RotateSecret,
  UpdateWebhook,
  Webhook,
  WebhookPage,
  WebhookWithSecret,
} from './schema.ts';

const tag = 'Webhooks';
const WebhookParams = idParams('webhook');

/** `/webhooks`: addresses that are told of events. */
export function webhookRoutes(deps: WebhookRules & { idempotency: Idempotency; quotas: Quotas }): Route[] {
  const present = (row: WebhookRow) => presentWebhook(deps.cipher, row);
  const action = (name: string, summary: string, run: typeof enableWebhook, responseExample: object) =>
    defineRoute({
      method: 'post',
      path: `/webhooks/{id}/${name}`,
      operationId: `${name}Webhook`,
      tag,
      summary,
      scope: 'write',
      params: WebhookParams,
      response: Webhook,
      responseExample: { ...webhookExample, ...responseExample },
      handler: async ({ db, params }) => present(await run(db, params.id)),
    });

  return [
    defineRoute({
      method: 'post',
      path: '/webhooks',
      operationId: 'createWebhook',
      tag,
      summary: 'Register a webhook; its secret is shown once',
      scope: 'write',
      status: 201,
      idempotent: true,
      body: CreateWebhook,
      bodyExamples: {
        'Evaluations alone': {
          url: webhookExample.url,
          events: webhookExample.events,
          headers: { 'X-Tenant': 'acme' },
        },
        Everything: { url: webhookExample.url },
      },
      response: WebhookWithSecret,
      responseExample: { ...webhookExample, secret: secretExample },
      errors: ['quota_exceeded'],
      handler: (request) =>
        deps.idempotency.createOnce(request, async (query) => {
          const { url, events, description, headers, rate_limit_per_minute: rateLimitPerMinute } = request.body;
          const secret = request.body.secret ?? generateSigningSecret();
          const row = await createWebhook(deps, query, {
            url,
            events,
            description,
            headers,
            rateLimitPerMinute,
            secret,
          });
          await deps.quotas.require(query, 'webhooks');
          return { resourceId: row.id, response: { ...present(row), secret } };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/webhooks',
      operationId: 'listWebhooks',
      tag,
      summary: 'List webhooks, newest first',
      scope: 'read',
      query: ListQuery,
      response: WebhookPage,
      responseExample: { data: [webhookExample], next_cursor: null },
      async handler({ db, query: { limit, cursor, ...filter } }) {
        const page = await listWebhooks(db, filter, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, present, (row) => row.id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/webhooks/{id}',
      operationId: 'getWebhook',
      tag,
      summary: 'Read a webhook',
      scope: 'read',
      params: WebhookParams,
      response: Webhook,
      responseExample: webhookExample,
      handler: async ({ db, params }) => present(await getWebhook(db, params.id)),
    }),
    defineRoute({
      method: 'patch',
      path: '/webhooks/{id}',
      operationId: 'updateWebhook',
      tag,
      summary: 'Change a webhook',
      description: 'What is left out stays. What is sent from then on goes to it as it then is, retries too.',
      scope: 'write',
      params: WebhookParams,
      body: UpdateWebhook,
      bodyExamples: { 'Another address': { url: webhookExample.url } },
      response: Webhook,
      responseExample: webhookExample,
      async handler({ db, params, body }) {
        const { url, events, description, headers, rate_limit_per_minute: rateLimitPerMinute } = body;
        const changes = { url, events, description, headers: headers === null ? {} : headers, rateLimitPerMinute };
        return present(await updateWebhook(deps, db, params.id, changes));
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/webhooks/{id}',
      operationId: 'deleteWebhook',
      tag,
      summary: 'Delete a webhook; what was not yet delivered to it is abandoned',
      scope: 'write',
      params: WebhookParams,
      response: Webhook,
      responseExample: webhookExample,
      handler: async ({ db, params }) => present(await deleteWebhook(db, params.id)),
    }),
    action('disable', 'Stop calling a webhook; what was not yet delivered to it is abandoned', disableByRequest, {
      status: 'disabled',
      disabled_reason: 'disabled by request',
    }),
    action('enable', 'Call a disabled webhook again', enableWebhook, {}),
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      tag,
      summary: 'Give a webhook a new secret; it is shown once',
      description: `The secret before signs as well for ${OVERLAP_HOURS} hours; one that was before that, no more.`,
      scope: 'write',
      idempotent: true,
      params: WebhookParams,
      body: RotateSecret,
      bodyOptional: true,
      bodyExamples: { 'One that is generated': {} },
      response: WebhookWithSecret,
      responseExample: {
        ...webhookExample,
        previous_secret_expires_at: '2026-02-01T12:00:00.000Z',
        secret: secretExample,
      },
      handler: (request) =>
        deps.idempotency.createOnce(request, async (query) => {
          const secret = request.body.secret ?? generateSigningSecret();
          const row = await rotateSecret(deps.cipher, query, request.params.id, secret);
          return { resourceId: row.id, response: { ...present(row), secret } };
        }),
    }),
  ];
}
