import { z } from 'zod';
import type { Cipher } from '../../domain/cipher.ts';
import { publicId } from '../../domain/ids.ts';
import { generateSigningSecret } from '../../domain/webhooks/webhook-signature.ts';
import { idParams } from '../../http/fields.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deleteWebhook,
  disableByRequest,
  enableWebhook,
  OVERLAP_HOURS,
  rotateSecret,
  updateWebhook,
} from '../../services/webhooks/change-webhook.ts';
import { decryptHeaders } from '../../services/webhooks/encrypted-columns.ts';
import {
  createWebhook,
  type EndpointRules,
  getWebhook,
  listWebhooks,
  type WebhookRow,
} from '../../services/webhooks/webhooks.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import {
  CreateWebhook,
  ListQuery,
  RotateSecret,
  UpdateWebhook,
  Webhook,
  WebhookPage,
  WebhookWithSecret,
} from './schema.ts';

const webhookSample = {
  id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  url: 'https://example.com/hooks/prompts',
  events: ['evaluation.completed', 'evaluation.regression'],
  description: null,
  status: 'enabled',
  disabled_reason: null,
  consecutive_failures: 0,
  rate_limit_per_minute: null,
  header_names: ['X-Tenant'],
  previous_secret_expires_at: null,
  last_delivery_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};

/** Not a real secret, because it might be copied. */
const secretSample = 'whsec_<44 characters>';

/** Null if they cannot be decrypted: the rest of the webhook stays readable, and its headers can be set again. */
function headerNames(cipher: Cipher, { headers }: WebhookRow): string[] | null {
  try {
    return Object.keys(decryptHeaders(cipher, headers));
  } catch {
    return null;
  }
}

function presentWebhook(cipher: Cipher, row: WebhookRow): z.input<typeof Webhook> {
  const until = row.previous_secret_expires_at;
  return {
    id: publicId('webhook', row.id),
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.status,
    disabled_reason: row.disabled_reason,
    consecutive_failures: row.consecutive_failures,
    rate_limit_per_minute: row.rate_limit_per_minute,
    header_names: headerNames(cipher, row),
    previous_secret_expires_at: until !== null && until.getTime() > Date.now() ? until.toISOString() : null,
    last_delivery_at: row.last_delivery_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

const tag = 'Webhooks';
const WebhookParams = idParams('webhook');

/** `/webhooks`: endpoints that receive events. */
export function webhookRoutes(deps: EndpointRules & { idempotency: Idempotency; quotas: Quotas }): Route[] {
  const present = (row: WebhookRow) => presentWebhook(deps.cipher, row);
  const routes = resource({
    tag,
    path: '/webhooks',
    name: 'Webhook',
    params: WebhookParams,
    cursor: z.uuid(),
    response: Webhook,
    page: WebhookPage,
    sample: webhookSample,
    present,
  });
  const action = (name: 'enable' | 'disable', summary: string, run: typeof enableWebhook, responseExample: object) =>
    defineRoute({
      method: 'post',
      path: `/webhooks/{id}/${name}`,
      operationId: `${name}Webhook`,
      audit: [`webhook.${name}d`],
      tag,
      summary,
      scope: 'write',
      params: WebhookParams,
      response: Webhook,
      responseExample: { ...webhookSample, ...responseExample },
      handler: async ({ db, params }) => present(await run(db, params.id)),
    });

  return [
    defineRoute({
      method: 'post',
      path: '/webhooks',
      operationId: 'createWebhook',
      audit: ['webhook.created'],
      tag,
      summary: 'Create a webhook',
      description:
        'The response contains the signing secret, which is not shown again. Webhooks receive the events that `GET /events` lists.',
      scope: 'write',
      alsoScope: 'read',
      status: 201,
      idempotent: true,
      body: CreateWebhook,
      bodyExamples: {
        'Evaluation events': {
          url: webhookSample.url,
          events: webhookSample.events,
          headers: { 'X-Tenant': 'acme' },
        },
        'All events': { url: webhookSample.url },
      },
      response: WebhookWithSecret,
      responseExample: { ...webhookSample, secret: secretSample },
      errors: ['quota_exceeded'],
      handler: (request) =>
        deps.idempotency.createSecretOnce(request, async (query) => {
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
    routes.list({
      summary: 'List webhooks, newest first',
      query: ListQuery,
      read: ({ db, query }, after) => listWebhooks(db, query, query.limit, after),
    }),
    routes.get({
      summary: 'Retrieve a webhook',
      read: ({ db, params }) => getWebhook(db, params.id),
    }),
    defineRoute({
      method: 'patch',
      path: '/webhooks/{id}',
      operationId: 'updateWebhook',
      audit: ['webhook.updated'],
      tag,
      summary: 'Update a webhook',
      description: 'Omitted fields keep their values. Pending deliveries also use the new values.',
      scope: 'write',
      alsoScope: 'read',
      params: WebhookParams,
      body: UpdateWebhook,
      bodyExamples: { 'A new URL': { url: webhookSample.url } },
      response: Webhook,
      responseExample: webhookSample,
      async handler({ db, params, body }) {
        const { url, events, description, headers, rate_limit_per_minute: rateLimitPerMinute } = body;
        const changes = { url, events, description, headers: headers === null ? {} : headers, rateLimitPerMinute };
        return present(await updateWebhook(deps, db, params.id, changes));
      },
    }),
    routes.delete({
      summary: 'Delete a webhook',
      description: 'Its unfinished deliveries are abandoned.',
      scope: 'write',
      audit: ['webhook.deleted'],
      remove: ({ db, params }) => deleteWebhook(db, params.id),
    }),
    action('disable', 'Disable a webhook and abandon its unfinished deliveries', disableByRequest, {
      status: 'disabled',
      disabled_reason: 'disabled by request',
    }),
    action('enable', 'Enable a webhook', enableWebhook, {}),
    defineRoute({
      method: 'post',
      path: '/webhooks/{id}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      audit: ['webhook.secret_rotated'],
      tag,
      summary: 'Rotate the signing secret of a webhook',
      description:
        'The response contains the new secret, which is not shown again. ' +
        `Requests are also signed with the previous secret for ${OVERLAP_HOURS} hours; an older secret expires immediately.`,
      scope: 'write',
      idempotent: true,
      params: WebhookParams,
      body: RotateSecret,
      bodyOptional: true,
      bodyExamples: { 'Generate a secret': {} },
      response: WebhookWithSecret,
      responseExample: {
        ...webhookSample,
        previous_secret_expires_at: '2026-02-01T12:00:00.000Z',
        secret: secretSample,
      },
      handler: (request) =>
        deps.idempotency.createSecretOnce(request, async (query) => {
          const secret = request.body.secret ?? generateSigningSecret();
          const row = await rotateSecret(deps.cipher, query, request.params.id, secret);
          return { resourceId: row.id, response: { ...present(row), secret } };
        }),
    }),
  ];
}
