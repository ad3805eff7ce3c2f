import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { webhookStates } from '../../domain/webhook-states.ts';
import { abandonDeliveries } from '../deliveries/abandon-deliveries.ts';
import { sealHeaders, sealSecret } from './encrypted-columns.ts';
import {
  foundWebhook,
  getWebhook,
  lockWebhook,
  type NewWebhook,
  requireTarget,
  WEBHOOK_COLUMNS,
  type WebhookRow,
  type WebhookRules,
} from './webhooks.ts';

/** How long the secret before a rotation signs as well. */
export const OVERLAP_HOURS = 24;

/** What is left out stays as it is. */
export type WebhookChanges = { [Field in keyof Omit<NewWebhook, 'secret'>]?: NewWebhook[Field] | undefined };

/** A new pace begins now; the slots that were given at the old one are kept. */
const UPDATE = {
  text: `update webhooks set url = $3, events = $4, description = $5, headers = $6,
           next_slot_at = case when rate_limit_per_minute is distinct from $7 then null else next_slot_at end,
           rate_limit_per_minute = $7, updated_at = now()
         where workspace_id = $1 and id = $2 returning ${WEBHOOK_COLUMNS}`,
};

/**
 * Changes a webhook. Deliveries that are under way go on with what it is then.
 * @throws ApiError `not_found`, `invalid_request` (its address)
 */
export async function updateWebhook(
  rules: WebhookRules,
  db: WorkspaceDatabase,
  id: string,
  { url, events, description, headers, rateLimitPerMinute }: WebhookChanges,
): Promise<WebhookRow> {
  return db.transaction(async (query) => {
    const old = foundWebhook(await lockWebhook(query, id));
    if (url !== undefined) requireTarget(rules, url);
    const [row] = await query<WebhookRow>(UPDATE, [
      old.id,
      url ?? old.url,
      events ?? old.events,
      description === undefined ? old.description : description,
      headers === undefined ? old.headers : sealHeaders(rules.cipher, headers),
      rateLimitPerMinute === undefined ? old.rate_limit_per_minute : rateLimitPerMinute,
    ]);
    return foundWebhook(row);
  });
}

const enabled = webhookStates.change({ to: 'enabled' });
const ENABLE = {
  text: `update webhooks set ${enabled.set}, disabled_reason = null, consecutive_failures = 0, next_slot_at = null,
           updated_at = now()
         where workspace_id = $1 and id = $2 and ${enabled.where} returning ${WEBHOOK_COLUMNS}`,
};

/** Enabling one that is enabled changes nothing. @throws ApiError `not_found` */
export async function enableWebhook(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  const [row] = await db.query<WebhookRow>(ENABLE, [id]);
  return row ?? getWebhook(db, id);
}

const disabled = webhookStates.change({ to: 'disabled' });
const DISABLE = {
  text: `update webhooks set ${disabled.set}, disabled_reason = 'disabled by request', next_slot_at = null, updated_at = now()
         where workspace_id = $1 and id = $2 and ${disabled.where} returning ${WEBHOOK_COLUMNS}`,
};

/** Disabling one that is disabled changes nothing, its reason neither. @throws ApiError `not_found` */
export async function disableByRequest(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  const changed = await db.transaction(async (query) => {
    const [row] = await query<WebhookRow>(DISABLE, [id]);
    if (row !== undefined) await abandonDeliveries(query, row.id, 'The webhook was disabled.');
    return row;
  });
  return changed ?? getWebhook(db, id);
}

const DELETE = { text: `delete from webhooks where workspace_id = $1 and id = $2 returning ${WEBHOOK_COLUMNS}` };

/**
 * Deletes a webhook; its deliveries stay, those that have not ended are abandoned.
 * @returns it as it last was
 * @throws ApiError `not_found`
 */
export async function deleteWebhook(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  return db.transaction(async (query) => {
    const [deleted] = await query<WebhookRow>(DELETE, [id]);
    const row = foundWebhook(deleted);
    await abandonDeliveries(query, row.id, 'The webhook was deleted.');
    return row;
  });
}

const ROTATE = {
  text: `update webhooks set previous_secret = secret, secret = $3,
           previous_secret_expires_at = now() + interval '${OVERLAP_HOURS} hours', updated_at = now()
         where workspace_id = $1 and id = $2 returning ${WEBHOOK_COLUMNS}`,
};

/**
 * Gives a webhook a new secret, in the caller's transaction; the one before signs as well for {@link OVERLAP_HOURS}.
 * @throws ApiError `not_found`
 */
export async function rotateSecret(cipher: Cipher, query: Query, id: string, secret: string): Promise<WebhookRow> {
  const [row] = await query<WebhookRow>(ROTATE, [id, sealSecret(cipher, secret)]);
  return foundWebhook(row);
}
