import type { z } from 'zod';
import type { Cipher } from '../../domain/cipher.ts';
import { publicId } from '../../domain/ids.ts';
import { decryptHeaders } from '../../services/webhooks/encrypted-columns.ts';
import type { WebhookRow } from '../../services/webhooks/webhooks.ts';
import type { Webhook } from './schema.ts';

/** Null if they cannot be decrypted: the rest of the webhook stays readable, and its headers can be set again. */
function headerNames(cipher: Cipher, { headers }: WebhookRow): string[] | null {
  try {
    return Object.keys(decryptHeaders(cipher, headers));
  } catch {
    return null;
  }
}

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
