import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import type { EventType } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';
import { type WebhookStatus, webhookStates } from '../../domain/webhook-states.ts';
import { type AllowPrivate, targetProblem } from '../../outbound/target.ts';
import { sealHeaders, sealSecret } from './encrypted-columns.ts';

/** A row of `webhooks`, without its secrets. */
export interface WebhookRow {
  id: string;
  url: string;
  events: EventType[];
  description: string | null;
  status: WebhookStatus;
  disabled_reason: string | null;
  consecutive_failures: number;
  rate_limit_per_minute: number | null;
  /** Encrypted. */
  headers: Buffer | null;
  previous_secret_expires_at: Date | null;
  last_delivery_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export const WEBHOOK_COLUMNS = `id, url, events, description, status, disabled_reason, consecutive_failures,
  rate_limit_per_minute, headers, previous_secret_expires_at, last_delivery_at, created_at, updated_at`;

export interface NewWebhook {
  url: string;
  events: EventType[];
  description: string | null;
  headers: Record<string, string>;
  /** Requests a minute; null: no limit. */
  rateLimitPerMinute: number | null;
  secret: string;
}

/** What webhooks are written with: which addresses they may have, and what encrypts their secrets. */
export interface WebhookRules {
  cipher: Cipher;
  allowPrivate: AllowPrivate;
}

/** @throws ApiError `invalid_request` where the address is none that may be called */
export function requireTarget({ allowPrivate }: WebhookRules, url: string): void {
  const problem = targetProblem(url, allowPrivate);
  if (problem !== undefined) throw invalidField('url', problem);
}

const INSERT = {
  text: `insert into webhooks (workspace_id, id, url, events, description, status, headers, rate_limit_per_minute, secret,
           created_at, updated_at)
         values ($1, $2, $3, $4, $5, '${webhookStates.initial}', $6, $7, $8, now(), now()) returning ${WEBHOOK_COLUMNS}`,
};

/**
 * Registers a webhook in the caller's transaction.
 * @throws ApiError `invalid_request` (its address)
 */
export async function createWebhook(rules: WebhookRules, query: Query, webhook: NewWebhook): Promise<WebhookRow> {
  requireTarget(rules, webhook.url);
  const [row] = await query<WebhookRow>(INSERT, [
    newId(),
    webhook.url,
    webhook.events,
    webhook.description,
    sealHeaders(rules.cipher, webhook.headers),
    webhook.rateLimitPerMinute,
    sealSecret(rules.cipher, webhook.secret),
  ]);
  if (row === undefined) throw new Error('An insert without a row.');
  return row;
}

const FIND = { text: `select ${WEBHOOK_COLUMNS} from webhooks where workspace_id = $1 and id = $2` };

/** @throws ApiError `not_found` */
export async function getWebhook({ query }: { query: Query }, id: string): Promise<WebhookRow> {
  const [row] = await query<WebhookRow>(FIND, [id]);
  return foundWebhook(row);
}

/** @throws ApiError `not_found` where there is none */
export function foundWebhook<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound('This webhook');
  return row;
}

/** Webhooks, newest first, a page of at most `limit` before the id `before`. */
export function listWebhooks(
  db: WorkspaceDatabase,
  filter: { status?: WebhookStatus | undefined },
  limit: number,
  before: string | undefined,
): Promise<Page<WebhookRow>> {
  const list = {
    select: `select ${WEBHOOK_COLUMNS} from webhooks
             where workspace_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or id < $3)`,
    orderBy: 'id desc',
    bytes: 'octet_length(url) + coalesce(octet_length(description), 0) + coalesce(octet_length(headers), 0)',
  };
  return readPage<WebhookRow>(db.query, list, [filter.status ?? null, before ?? null], limit);
}

const LOCK = { text: `select ${WEBHOOK_COLUMNS} from webhooks where workspace_id = $1 and id = $2 for no key update` };

/**
 * A webhook that stays as it is until the caller's transaction ends. It is locked before any of its deliveries.
 * @returns undefined where there is none (any more)
 */
export async function lockWebhook(query: Query, id: string): Promise<WebhookRow | undefined> {
  const [row] = await query<WebhookRow>(LOCK, [id]);
  return row;
}

/** @throws ApiError `invalid_state` where it is disabled */
export function requireEnabled({ status }: WebhookRow): void {
  if (status === 'disabled')
    throw new ApiError('invalid_state', 'This webhook is disabled, nothing is sent to it: enable it first.');
}
