import { expressionBuilder, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Page } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { EventType } from '../../domain/webhooks/events.ts';
import { type WebhookStatus, webhookStates } from '../../domain/webhooks/webhook-states.ts';
import { type OwnServers, ownServerProblem } from '../../outbound/own-servers.ts';
import { type AllowPrivate, targetProblem } from '../../outbound/target.ts';
import { recordChange } from '../audit/record-change.ts';
import { type RowIn, rowsBy } from '../named-rows.ts';
import { encryptHeaders, encryptSecret } from './encrypted-columns.ts';

/** Columns of a webhook without its secrets. */
export const WEBHOOK_COLUMNS = [
  'id',
  'url',
  'events',
  'description',
  'status',
  'disabled_reason',
  'consecutive_failures',
  'rate_limit_per_minute',
  'headers',
  'previous_secret_expires_at',
  'last_delivery_at',
  'created_at',
  'updated_at',
] as const;

const select = (db: Builder) => db.selectFrom('webhooks').select(WEBHOOK_COLUMNS);
const LOCK = prepared<{ id: string }>()((db, { id }) => select(db).where('id', '=', id).forNoKeyUpdate());

const WEBHOOKS = rowsBy({
  select,
  keys: ['id'],
  bytes: () =>
    sql<number>`octet_length(url) + coalesce(octet_length(description), 0) + coalesce(octet_length(headers), 0)`,
  what: 'This webhook',
});
export type WebhookRow = RowIn<typeof WEBHOOKS>;

export interface NewWebhook {
  url: string;
  events: EventType[];
  description: string | null;
  headers: Record<string, string>;
  /** Requests per minute; null: no limit. */
  rateLimitPerMinute: number | null;
  secret: string;
}

/** The rules for storing callers' endpoints: the allowed addresses, and the cipher of their secrets. */
export interface EndpointRules {
  cipher: Cipher;
  allowPrivate: AllowPrivate;
  /** Servers that are never allowed as endpoints, whatever addresses are allowed. */
  ownServers?: OwnServers | undefined;
}

/** @throws ApiError `invalid_request` if calling the address is not allowed. @param at path of the address in the request */
export function requireTarget({ allowPrivate, ownServers }: EndpointRules, url: string, at = 'url'): void {
  const problem = targetProblem(url, allowPrivate) ?? ownServerProblem(url, ownServers);
  if (problem !== undefined) throw invalidField(at, problem);
}

/**
 * Registers a webhook in the caller's transaction.
 * @throws ApiError `invalid_request` (its address)
 */
export async function createWebhook(rules: EndpointRules, query: Query, webhook: NewWebhook): Promise<WebhookRow> {
  requireTarget(rules, webhook.url);
  const [row] = await query((db) =>
    db
      .insertInto('webhooks')
      .values({
        id: newId(),
        url: webhook.url,
        events: webhook.events,
        description: webhook.description,
        status: webhookStates.initial,
        headers: encryptHeaders(rules.cipher, webhook.headers),
        rate_limit_per_minute: webhook.rateLimitPerMinute,
        secret: encryptSecret(rules.cipher, webhook.secret),
        created_at: now,
        updated_at: now,
      })
      .returning(WEBHOOK_COLUMNS),
  );
  if (row === undefined) throw new Error('An insert without a row.');
  await recordChange(query, 'webhook.created', publicId('webhook', row.id), { host: hostOf(row), events: row.events });
  return row;
}

/** The host of its address, whose path may contain a secret. */
export const hostOf = ({ url }: Pick<WebhookRow, 'url'>): string => new URL(url).host;

/** @throws ApiError `not_found` */
export const getWebhook = ({ query }: { query: Query }, id: string): Promise<WebhookRow> => WEBHOOKS.get(query, { id });

/** @throws ApiError `not_found` if there is none */
export const foundWebhook = <Row>(row: Row | undefined): Row => WEBHOOKS.found(row, { id: '' });

/** Webhooks, newest first: a page of at most `limit` before the id `before`. */
export function listWebhooks(
  { query }: WorkspaceDatabase,
  { status }: { status?: WebhookStatus | undefined },
  limit: number,
  before: string | undefined,
): Promise<Page<WebhookRow>> {
  const eb = expressionBuilder<Tables, 'webhooks'>();
  return WEBHOOKS.list(query, limit, before, eb.and(given(status, (value) => eb('status', '=', value))));
}

/**
 * Locks a webhook until the caller's transaction ends. It is locked before any of its deliveries.
 * @returns undefined if there is none, or no longer
 */
export async function lockWebhook(query: Query, id: string): Promise<WebhookRow | undefined> {
  const [row] = await query(LOCK, { id });
  return row;
}

/** @throws ApiError `invalid_state` if it is disabled */
export function requireEnabled({ status }: WebhookRow): void {
  if (status === 'disabled') throw new ApiError('invalid_state', 'This webhook is disabled: enable it first.');
}
