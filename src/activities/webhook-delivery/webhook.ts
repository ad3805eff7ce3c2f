import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Query } from '../../db/database.ts';
import type { Cipher } from '../../domain/cipher.ts';
import type { DeliveryStatus } from '../../domain/delivery-states.ts';
import { eventBody } from '../../domain/events.ts';
import { publicId } from '../../domain/ids.ts';
import { signedHeaders } from '../../domain/webhook-signature.ts';
import { SingleFlight } from '../../lib/single-flight.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Outbound, OutboundResult } from '../../outbound/outbound.ts';
import { abandonOne } from '../../services/deliveries/abandon-deliveries.ts';
import {
  countAttempt,
  isSendable,
  readAttempt,
  recordAttempt,
  type SendableRow,
  takeSlot,
} from '../../services/deliveries/attempts.ts';
import { type EmailOutcome, emailOwner } from '../../services/notifications/email-owner.ts';
import { failForGood, findNotification } from '../../services/webhooks/disable-webhook.ts';
import { type DecryptedColumns, decryptColumns } from '../../services/webhooks/encrypted-columns.ts';
import type { WebhookMetrics } from '../../services/webhooks/webhook-metrics.ts';
import { withHeartbeats } from '../heartbeats.ts';
import type { Places } from '../places.ts';
import { untilDatabaseAnswers } from '../until-database-answers.ts';

export interface WebhookActivityDeps {
  db: Database;
  cipher: Cipher;
  outbound: Outbound;
  places: Places;
  mailer: Mailer | undefined;
  webhookMetrics: WebhookMetrics;
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

export interface AttemptTask {
  /** UUID of the row. */
  deliveryId: string;
  /** From 1. */
  attempt: number;
  /** When it is tried again should it fail; null for the last attempt. */
  retryInMs: number | null;
}

export type AttemptOutcome =
  | { state: 'delivered' | 'abandoned' }
  /** `waitMs`: what is left of the wait, where the attempt was made by a worker that could not say so. */
  | { state: 'failed'; reason: string; waitMs?: number }
  /** Nothing was sent: ask again after `forMs`. */
  | { state: 'held back'; forMs: number; reason: string };

const heldBack = (forMs: number, reason: string) => ({ state: 'held back' as const, forMs, reason });

/** A slot this near is waited for in place. */
const NEAR_MS = 1_000;

/** What a status means for a workflow that has nothing to send any more; undefined where there is something. */
function outcomeOf(status: DeliveryStatus | undefined, reason: string | null): AttemptOutcome | undefined {
  if (status === undefined || status === 'abandoned') return { state: 'abandoned' };
  if (status === 'delivered') return { state: 'delivered' };
  if (status === 'failed') return { state: 'failed', reason: reason ?? 'it has failed before' };
  return reason === null ? undefined : { state: 'failed', reason };
}

/** The steps of the workflow `webhookDelivery`. Each can be run again without harm. */
export function createWebhookActivities(deps: WebhookActivityDeps) {
  const { db, cipher, outbound, places, webhookMetrics } = deps;
  const { query } = db.system;
  /** Attempts of this process that have not ended: one that Temporal lost sight of is waited for, not made twice. */
  const inFlight = new SingleFlight<AttemptOutcome>();

  /** @returns milliseconds until the attempt may be sent */
  async function waitForSlot({ deliveryId }: AttemptTask, row: SendableRow): Promise<number> {
    if (row.rate_limit_per_minute === null) return 0;
    const inMs = row.slot_in_ms ?? (await takeSlot(query, deliveryId, row.webhook_id));
    if (inMs > NEAR_MS) return inMs;
    if (inMs > 0) await delay(inMs);
    return 0;
  }

  async function send({ deliveryId, attempt }: AttemptTask, row: SendableRow) {
    const sentAt = new Date();
    const opened = decryptColumns(cipher, row, sentAt);
    const body = eventBody({ type: row.type, data: row.data, createdAt: row.created_at });
    const signed = signedHeaders({
      body,
      eventId: publicId('event', row.event_id),
      deliveryId: publicId('delivery', deliveryId),
      attempt,
      sentAt,
      secrets: opened.secrets,
    });
    const test = row.trigger === 'test' ? { 'X-Webhook-Test': 'true' } : {};
    const result = await outbound.post({
      url: row.url,
      headers: { 'User-Agent': 'prompt-management-service', ...opened.headers, ...test, ...signed },
      body,
    });
    return { sentAt, result: withoutSecrets(result, opened) };
  }

  /** @returns what came of it; where nothing was sent, when and why to come back */
  async function sendInPlace(task: AttemptTask, row: SendableRow) {
    const { workspace_id: workspaceId, event_id: eventId, webhook_id: webhookId, trigger } = row;
    const delivery = { id: task.deliveryId, eventId, webhookId, trigger };
    const entered = await places.enterAttempt(publicId('workspace', workspaceId), delivery, new URL(row.url).host);
    if ('comeBackInMs' in entered) return heldBack(entered.comeBackInMs, 'enough is under way to the host or in all');
    try {
      const slotMs = await waitForSlot(task, row);
      return slotMs > 0 ? heldBack(slotMs, 'rate limit of the webhook') : await send(task, row);
    } finally {
      entered.release();
    }
  }

  async function count(webhookId: string, result: OutboundResult, status: DeliveryStatus | undefined): Promise<void> {
    const succeeded = result.error === null;
    webhookMetrics.attempted(succeeded ? 'succeeded' : 'failed', result.durationMs);
    if (status === 'delivered' || status === 'failed' || status === 'abandoned') webhookMetrics.ended(status);
    await untilDatabaseAnswers(() => countAttempt(query, webhookId, succeeded));
  }

  async function make(task: AttemptTask): Promise<AttemptOutcome> {
    const { deliveryId, attempt, retryInMs } = task;
    const row = await untilDatabaseAnswers(() => readAttempt(query, deliveryId, attempt));
    const known = outcomeOf(row?.status, row?.recorded_error ?? null);
    if (known?.state === 'failed' && row?.next_in_ms != null) return { ...known, waitMs: Math.max(0, row.next_in_ms) };
    if (row === undefined || known !== undefined) return known ?? { state: 'abandoned' };
    if (!isSendable(row)) {
      const reason = `The webhook was ${row.webhook_status === null ? 'deleted' : 'disabled'}.`;
      await untilDatabaseAnswers(() => abandonOne(query, deliveryId, reason));
      return { state: 'abandoned' };
    }

    const sent = await sendInPlace(task, row);
    if ('state' in sent) return sent;
    const { sentAt, result } = sent;
    // It was sent: the database may be away for a while, what came of it is stored all the same.
    const attempted = { id: deliveryId, attempt, startedAt: sentAt, retryInMs };
    const record = (inside: Query) => recordAttempt(inside, attempted, result);
    const isExhausted = retryInMs === null && result.error !== null && row.trigger !== 'test';
    const { recorded: status, disabled } = await untilDatabaseAnswers(async () =>
      isExhausted ? failForGood(db.system, deliveryId, record) : { recorded: await record(query), disabled: false },
    );
    if (disabled) webhookMetrics.disabled();
    if (row.trigger !== 'test') await count(row.webhook_id, result, status);
    return outcomeOf(status, result.error) ?? { state: 'abandoned' };
  }

  return {
    /** Sends once, unless this attempt was made before or there is nothing to send any more, and stores what came of it. */
    attemptDelivery(task: AttemptTask): Promise<AttemptOutcome> {
      const key = `${task.deliveryId}/${task.attempt}`;
      const attempt = inFlight.run(key, () => make(task));
      return withHeartbeats(() => attempt);
    },

    /** @returns the notification that the owner is to be sent; null where another delivery is the reason */
    findNotification: (deliveryId: string): Promise<string | null> => findNotification(query, deliveryId),

    /** Ends a delivery whose workflow was canceled; one that has ended stays as it is. */
    async abandonDelivery(deliveryId: string, reason: string): Promise<void> {
      await abandonOne(query, deliveryId, reason);
    },

    /** Tells the owner by e-mail, once. What cannot be sent at once is sent later by its row. */
    emailOwner: (notificationId: string): Promise<EmailOutcome> => emailOwner(deps, notificationId),
  };
}

/** A shorter part of a header is no secret, and would take ordinary words out of answers. */
const SECRET_LENGTH = 8;

/** A receiver may send back what it was sent: a secret, a header, or a header's part such as the token after `Bearer`. */
function withoutSecrets(result: OutboundResult, { secrets, headers }: DecryptedColumns): OutboundResult {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const hidden = [...secrets, ...parts].filter((text) => text !== undefined && text.length >= SECRET_LENGTH);
  let { body } = result;
  for (const text of hidden) body = body?.replaceAll(text ?? '', '[removed]') ?? null;
  return { ...result, body };
}
