import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { publicId } from '../../domain/ids.ts';
import { webhookStates } from '../../domain/webhooks/webhook-states.ts';
import { recordChange } from '../audit/record-change.ts';
import { abandonDeliveries } from './deliveries/abandon-deliveries.ts';
import { encryptHeaders, encryptSecret } from './encrypted-columns.ts';
import {
  type EndpointRules,
  foundWebhook,
  getWebhook,
  hostOf,
  type NewWebhook,
  requireTarget,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from './webhooks.ts';

/** How long the previous secret also signs after a rotation. */
export const OVERLAP_HOURS = 24;

/** Omitted fields are unchanged. */
export type WebhookChanges = { [Field in keyof Omit<NewWebhook, 'secret'>]?: NewWebhook[Field] | undefined };

/**
 * Changes a webhook. Deliveries in flight use the new values from their next attempt on.
 * @throws ApiError `not_found`, `invalid_request` (its address)
 */
export async function updateWebhook(
  rules: EndpointRules,
  db: WorkspaceDatabase,
  id: string,
  changes: WebhookChanges,
): Promise<WebhookRow> {
  if (changes.url !== undefined) {
    await getWebhook(db, id);
    requireTarget(rules, changes.url);
  }
  return db.transaction(async (query) => {
    const row = await update(rules, query, id, changes);
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    await recordChange(query, 'webhook.updated', publicId('webhook', id), {
      changed: given.map(([field]) => (field === 'rateLimitPerMinute' ? 'rate_limit_per_minute' : field)),
      ...(changes.url !== undefined && { host: hostOf(row) }),
      ...(changes.events !== undefined && { events: row.events }),
    });
    return row;
  });
}

async function update(
  rules: EndpointRules,
  query: Query,
  id: string,
  { headers, rateLimitPerMinute, ...changes }: WebhookChanges,
): Promise<WebhookRow> {
  const [row] = await query((db) =>
    db
      .updateTable('webhooks')
      .set({
        ...changes,
        ...(headers !== undefined && { headers: encryptHeaders(rules.cipher, headers) }),
        ...(rateLimitPerMinute !== undefined && {
          rate_limit_per_minute: rateLimitPerMinute,
          // A new rate applies immediately; deliveries keep the slots that they have.
          next_slot_at: sql<Date | null>`case when rate_limit_per_minute is distinct from ${rateLimitPerMinute}::int then null else next_slot_at end`,
        }),
        updated_at: now,
      })
      .where('id', '=', id)
      .returning(WEBHOOK_COLUMNS),
  );
  return foundWebhook(row);
}

const ENABLED = changeState(webhookStates, { to: 'enabled' });

/** Enables a webhook; an enabled one is left unchanged. @throws ApiError `not_found` */
export async function enableWebhook(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  const enabled = await db.transaction(async (query) => {
    const [row] = await query((own) =>
      own
        .updateTable('webhooks')
        .set({
          ...ENABLED.set,
          disabled_reason: null,
          consecutive_failures: 0,
          next_slot_at: null,
          updated_at: now,
        })
        .where('id', '=', id)
        .where(ENABLED.where)
        .returning(WEBHOOK_COLUMNS),
    );
    if (row) await recordChange(query, 'webhook.enabled', publicId('webhook', id));
    return row;
  });
  return enabled ?? getWebhook(db, id);
}

const DISABLED = changeState(webhookStates, { to: 'disabled' });

/**
 * Disables a webhook and abandons its deliveries; a disabled one is left unchanged. Runs in the caller's transaction.
 * @param query bound to the webhook's workspace
 * @param reason shown as its `disabled_reason`
 * @returns undefined if it was already disabled, or does not exist
 */
export async function disableWebhook(query: Query, id: string, reason: string): Promise<WebhookRow | undefined> {
  const [row] = await query((db) =>
    db
      .updateTable('webhooks')
      .set({ ...DISABLED.set, disabled_reason: reason, next_slot_at: null, updated_at: now })
      .where('id', '=', id)
      .where(DISABLED.where)
      .returning(WEBHOOK_COLUMNS),
  );
  if (row !== undefined) await abandonDeliveries(query, id, 'The webhook was disabled.');
  return row;
}

/** @throws ApiError `not_found` */
export async function disableByRequest(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  const disabled = await db.transaction(async (query) => {
    const row = await disableWebhook(query, id, 'disabled by request');
    if (row) await recordChange(query, 'webhook.disabled', publicId('webhook', id));
    return row;
  });
  return disabled ?? getWebhook(db, id);
}

/**
 * Deletes a webhook and abandons its deliveries, which are kept.
 * @returns it as it last was
 * @throws ApiError `not_found`
 */
export async function deleteWebhook(db: WorkspaceDatabase, id: string): Promise<WebhookRow> {
  return db.transaction(async (query) => {
    const [deleted] = await query((own) => own.deleteFrom('webhooks').where('id', '=', id).returning(WEBHOOK_COLUMNS));
    const row = foundWebhook(deleted);
    await abandonDeliveries(query, row.id, 'The webhook was deleted.');
    await recordChange(query, 'webhook.deleted', publicId('webhook', id), { host: hostOf(row) });
    return row;
  });
}

/**
 * Gives a webhook a new secret, in the caller's transaction; the previous one also signs for {@link OVERLAP_HOURS}.
 * @throws ApiError `not_found`
 */
export async function rotateSecret(cipher: Cipher, query: Query, id: string, secret: string): Promise<WebhookRow> {
  const [row] = await query((db) =>
    db
      .updateTable('webhooks')
      .set((eb) => ({
        previous_secret: eb.ref('secret'),
        secret: encryptSecret(cipher, secret),
        previous_secret_expires_at: sql<Date>`now() + make_interval(hours => ${OVERLAP_HOURS})`,
        updated_at: now,
      }))
      .where('id', '=', id)
      .returning(WEBHOOK_COLUMNS),
  );
  const rotated = foundWebhook(row);
  await recordChange(query, 'webhook.secret_rotated', publicId('webhook', id));
  return rotated;
}
