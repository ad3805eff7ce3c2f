import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { Cipher } from '../../domain/cipher.ts';
import type { DeliveryStatus } from '../../domain/delivery-states.ts';
import { eventBody } from '../../domain/events.ts';
import { publicId } from '../../domain/ids.ts';
import { signedHeaders } from '../../domain/webhook-signature.ts';
import { SingleFlight } from '../../lib/single-flight.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Outbound, OutboundResult } from '../../outbound/outbound.ts';
import { abandonOne } from '../../services/deliveries/abandon-deliveries.ts';
import { isSendable, readAttempt, type SendableRow, takeSlot } from '../../services/deliveries/read-attempt.ts';
import { countAttempt, recordAttempt, recordLastFailure } from '../../services/deliveries/record-attempt.ts';
import { type EmailOutcome, emailOwner } from '../../services/notifications/email-owner.ts';
import { findNotification } from '../../services/webhooks/disable-webhook.ts';
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
  /** The wait until the next attempt, if this one fails; null for the last attempt. */
  retryInMs: number | null;
}

export type AttemptOutcome =
  | { state: 'delivered' | 'abandoned' }
  /** `waitMs`: the rest of the wait, where the attempt was recorded by a worker that could not report it. */
  | { state: 'failed'; reason: string; waitMs?: number }
  /** Nothing was sent: run the attempt again after `forMs`. */
  | { state: 'held back'; forMs: number; reason: string };

const heldBack = (forMs: number, reason: string) => ({ state: 'held back' as const, forMs, reason });

/** A slot that comes this soon is waited for inside the activity. */
const NEAR_MS = 1_000;

/** The outcome of a delivery with nothing to send at present; undefined where the attempt is to be made. */
function outcomeOf(status: DeliveryStatus | undefined, reason: string | null): AttemptOutcome | undefined {
  if (status === undefined || status === 'abandoned') return { state: 'abandoned' };
  if (status === 'delivered') return { state: 'delivered' };
  if (status === 'failed') return { state: 'failed', reason: reason ?? 'it has failed before' };
  return reason === null ? undefined : { state: 'failed', reason };
}

/** The steps of the workflow `webhookDelivery`. All are idempotent. */
export function createWebhookActivities(deps: WebhookActivityDeps) {
  const { db, cipher, outbound, places, webhookMetrics } = deps;
  const { query } = db.system;
  /** Attempts of this process: one that Temporal has timed out is waited for, not made twice. */
  const inFlight = new SingleFlight<AttemptOutcome>();

  /** Waits for the slot of a webhook with a rate limit, if it is near. @returns milliseconds until it; 0: now */
  async function waitForSlot({ deliveryId }: AttemptTask, row: SendableRow): Promise<number> {
    if (row.rate_limit_per_minute === null) return 0;
    const inMs = row.slot_in_ms ?? (await takeSlot(query, deliveryId, row.webhook_id));
    if (inMs > NEAR_MS) return inMs;
    if (inMs > 0) await delay(inMs);
    return 0;
  }

  async function send({ deliveryId, attempt }: AttemptTask, row: SendableRow) {
    const sentAt = new Date();
    const decrypted = decryptColumns(cipher, row, sentAt);
    const body = eventBody({ type: row.type, data: row.data, createdAt: row.created_at });
    const signed = signedHeaders({
      body,
      eventId: publicId('event', row.event_id),
      deliveryId: publicId('delivery', deliveryId),
      attempt,
      sentAt,
      secrets: decrypted.secrets,
    });
    const test = row.trigger === 'test' ? { 'X-Webhook-Test': 'true' } : {};
    const result = await outbound.post({
      url: row.url,
      headers: { 'User-Agent': 'prompt-management-service', ...decrypted.headers, ...test, ...signed },
      body,
    });
    return { sentAt, result: withoutSecrets(result, decrypted) };
  }

  /** Sends within the limits on concurrency and rate. @returns where nothing was sent, when and why to try again */
  async function sendWithinLimits(task: AttemptTask, row: SendableRow) {
    const { workspace_id: workspaceId, event_id: eventId, webhook_id: webhookId, trigger } = row;
    const delivery = { id: task.deliveryId, eventId, webhookId, trigger };
    const entered = await places.enterAttempt(publicId('workspace', workspaceId), delivery, new URL(row.url).host);
    if ('comeBackInMs' in entered) return heldBack(entered.comeBackInMs, 'too many attempts in flight');
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

  async function makeAttempt(task: AttemptTask): Promise<AttemptOutcome> {
    const { deliveryId, attempt, retryInMs } = task;
    const row = await untilDatabaseAnswers(() => readAttempt(query, deliveryId, attempt));
    if (row === undefined) return { state: 'abandoned' };
    const recorded = outcomeOf(row.status, row.recorded_error);
    if (recorded?.state === 'failed' && row.next_in_ms !== null)
      return { ...recorded, waitMs: Math.max(0, row.next_in_ms) };
    if (recorded !== undefined) return recorded;
    if (!isSendable(row)) {
      const reason = `The webhook was ${row.webhook_status === null ? 'deleted' : 'disabled'}.`;
      await untilDatabaseAnswers(() => abandonOne(query, deliveryId, reason));
      return { state: 'abandoned' };
    }

    const sent = await sendWithinLimits(task, row);
    if ('state' in sent) return sent;
    const { sentAt, result } = sent;
    // It was sent: the result is stored even if the database is away for a while.
    const attempted = { id: deliveryId, attempt, startedAt: sentAt, retryInMs };
    const isLastFailure = retryInMs === null && result.error !== null && row.trigger !== 'test';
    const { status, disabled } = await untilDatabaseAnswers(async () =>
      isLastFailure
        ? recordLastFailure(db.system, attempted, result)
        : { status: await recordAttempt(query, attempted, result), disabled: false },
    );
    if (disabled) webhookMetrics.disabled();
    if (row.trigger !== 'test') await count(row.webhook_id, result, status);
    return outcomeOf(status, result.error) ?? { state: 'abandoned' };
  }

  return {
    /** Makes an attempt and stores its result, unless it was made before or there is nothing to send any more. */
    attemptDelivery(task: AttemptTask): Promise<AttemptOutcome> {
      const key = `${task.deliveryId}/${task.attempt}`;
      const attempt = inFlight.run(key, () => makeAttempt(task));
      return withHeartbeats(() => attempt);
    },

    /** @returns the notification to e-mail to the owner; null where another delivery caused it */
    findNotification: (deliveryId: string): Promise<string | null> => findNotification(query, deliveryId),

    /** Abandons a delivery whose workflow was canceled; one that has ended stays as it is. */
    async abandonDelivery(deliveryId: string, reason: string): Promise<void> {
      await abandonOne(query, deliveryId, reason);
    },

    /** Sends the notification by e-mail, once. What cannot be sent now is sent later by `jobs/send-due-emails.ts`. */
    emailOwner: (notificationId: string): Promise<EmailOutcome> => emailOwner(deps, notificationId),
  };
}

/** Shorter parts of headers are no secrets: removing them would remove ordinary words. */
const MIN_SECRET_LENGTH = 8;

/** A response may echo a secret, a header, or a part of one such as the token after `Bearer`: they are removed from it. */
function withoutSecrets(result: OutboundResult, { secrets, headers }: DecryptedColumns): OutboundResult {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const hidden = [...secrets, ...parts].filter((text) => text !== undefined && text.length >= MIN_SECRET_LENGTH);
  let { body } = result;
  for (const text of hidden) body = body?.replaceAll(text ?? '', '[removed]') ?? null;
  return { ...result, body };
}
