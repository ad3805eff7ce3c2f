import type { z } from 'zod';
import type { Cipher } from '../../domain/cipher.ts';
import { publicId } from '../../domain/ids.ts';
import { decryptHeaders } from '../../services/webhooks/encrypted-columns.ts';
import type { WebhookRow } from '../../services/webhooks/webhooks.ts';
import type { Webhook } from './schema.ts';

/** Null where they can not be read: the rest of the webhook is to be seen, and the headers to be given anew. */
function headerNames(cipher: Cipher, { headers }: WebhookRow): string[] | null {
  try {
    return Object.keys(decryptHeaders(cipher, headers));
  } catch {
    return null;
  }
}

/** A webhook as callers see it: of its headers the names alone. */
export function presentWebhook(cipher: Cipher, row: WebhookRow): z.input<typeof Webhook> {
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

export const webhookExample = {
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

/** In the place of a secret in examples: none that someone could take over. */
export const secretExample = 'whsec_<44 characters>';
