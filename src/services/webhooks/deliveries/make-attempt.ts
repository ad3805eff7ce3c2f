import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import { untilDatabaseAnswers } from '../../../db/until-database-answers.ts';
import type { Cipher } from '../../../domain/cipher.ts';
import { publicId } from '../../../domain/ids.ts';
import type { DeliveryStatus } from '../../../domain/webhooks/delivery-states.ts';
import { eventBody } from '../../../domain/webhooks/events.ts';
import { HIDDEN_VALUE } from '../../../domain/webhooks/sent-request.ts';
import { signedHeaders } from '../../../domain/webhooks/webhook-signature.ts';
import type { FairSemaphore } from '../../../lib/fair-semaphore.ts';
import type { Outbound, OutboundResult } from '../../../outbound/outbound.ts';
import type { Entered } from '../../../temporal/slots.ts';
import { type DecryptedColumns, decryptColumns } from '../encrypted-columns.ts';
import type { WebhookMetrics } from '../webhook-metrics.ts';
import { abandonOne } from './abandon-deliveries.ts';
import { isSendable, readAttempt, readEventData, type SendableRow, takeSlot } from './read-attempt.ts';
import { countAttempt, recordAttempt, recordLastFailure } from './record-attempt.ts';

export interface AttemptDeps {
  db: Database;
  cipher: Cipher;
  outbound: Outbound;
  webhookMetrics: WebhookMetrics;
  /** Limits the bytes of bodies that are being sent. */
  memory: FairSemaphore;
}

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
  /** `waitMs`: the rest of the wait, if the attempt was recorded by a worker that could not report it. */
  | { state: 'failed'; reason: string; waitMs?: number }
  /** Nothing was sent: run the attempt again after `forMs`. */
  | { state: 'held back'; forMs: number; reason: string };

const heldBack = (forMs: number, reason: string) => ({ state: 'held back' as const, forMs, reason });

/** A byte of an event's data takes up to twelve once parsed, two in the text made from it, and one in the body. */
const BODY_FACTOR = 15;

/** Deliveries requested after the original one, which no longer serve its purpose. */
const ANEW = new Set(['redelivery', 'replay']);

/** A slot that comes this soon is waited for inside the activity. */
const NEAR_MS = 1_000;

/** The outcome of a delivery with nothing to send at present; undefined if the attempt is to be made. */
function outcomeOf(status: DeliveryStatus | undefined, reason: string | null): AttemptOutcome | undefined {
  if (status === undefined || status === 'abandoned') return { state: 'abandoned' };
  if (status === 'delivered') return { state: 'delivered' };
  if (status === 'failed') return { state: 'failed', reason: reason ?? 'it has failed before' };
  return reason === null ? undefined : { state: 'failed', reason };
}

/** Acquires the slots that an attempt to a webhook needs. */
export type EnterAttempt = (row: SendableRow) => Promise<Entered>;

/** Makes attempts: reads what to send, sends it within the limits, and stores the result. */
export interface AttemptMaker {
  /**
   * Makes an attempt and stores its result, unless it was already made or there is nothing left to send. While the database is
   * down, the result of a sent attempt is held until it can be stored.
   */
  make(task: AttemptTask, enter: EnterAttempt): Promise<AttemptOutcome>;
}

export function createAttemptMaker({ db, cipher, outbound, webhookMetrics, memory }: AttemptDeps): AttemptMaker {
  const { query } = db.system;

  /** Waits for the slot of a webhook with a rate limit, if it is near. @returns the milliseconds left until the slot */
  async function waitForSlot({ deliveryId }: AttemptTask, row: SendableRow): Promise<number> {
    if (row.rate_limit_per_minute === null) return 0;
    const inMs = row.slot_in_ms ?? (await takeSlot(query, deliveryId, row.webhook_id));
    if (inMs > NEAR_MS) return inMs;
    if (inMs > 0) await delay(inMs);
    return 0;
  }

  /** The body. The data it is made from is not kept while it is sent. */
  async function bodyOf({ event_id, type, data: known, created_at: createdAt }: SendableRow): Promise<Buffer> {
    const data = known ?? (await untilDatabaseAnswers(() => readEventData(query, event_id)));
    // A delivery is deleted with its event.
    if (data === undefined) throw new Error('The event of this delivery is gone.');
    return eventBody({ type, data, createdAt });
  }

  async function send({ deliveryId, attempt }: AttemptTask, row: SendableRow) {
    const body = await bodyOf(row);
    const sentAt = new Date();
    const decrypted = decryptColumns(cipher, row, sentAt);
    const signed = signedHeaders({
      body,
      eventId: publicId('event', row.event_id),
      deliveryId: publicId('delivery', deliveryId),
      attempt,
      sentAt,
      secrets: decrypted.secrets,
    });
    const test = row.trigger === 'test' ? { 'X-Webhook-Test': 'true' } : {};
    const userAgent = { 'User-Agent': 'prompt-management-service' };
    const result = await outbound.post({
      url: row.url,
      headers: { ...userAgent, ...decrypted.headers, ...test, ...signed },
      body,
      ...(row.traceparent !== null && { cause: { traceparent: row.traceparent, isAnew: ANEW.has(row.trigger) } }),
    });
    const request = { url: row.url, headers: { ...userAgent, ...hidden(decrypted.headers), ...test, ...signed } };
    return { sentAt, request, result: withoutSecrets(result, decrypted) };
  }

  /** Sends within the limits on concurrency and rate. @returns if nothing was sent, when and why to try again */
  async function sendWithinLimits(task: AttemptTask, row: SendableRow, enter: EnterAttempt) {
    const entered = await enter(row);
    if ('comeBackInMs' in entered) return heldBack(entered.comeBackInMs, 'too many attempts in flight');
    try {
      const slotMs = await waitForSlot(task, row);
      if (slotMs > 0) return heldBack(slotMs, 'rate limit of the webhook');
      return await memory.run(row.workspace_id, () => send(task, row), { amount: BODY_FACTOR * row.data_bytes });
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

  async function make(task: AttemptTask, enter: EnterAttempt): Promise<AttemptOutcome> {
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

    const sent = await sendWithinLimits(task, row, enter);
    if ('state' in sent) return sent;
    const { sentAt, request, result } = sent;
    // It was sent: the result is stored even if the database is down for a while.
    const attempted = { id: deliveryId, attempt, startedAt: sentAt, request, retryInMs };
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

  return { make };
}

/** Only the names of custom headers, because their values are secret. */
const hidden = (headers: Record<string, string>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN_VALUE]));

/** Shorter parts of headers are not treated as secrets: removing them would remove ordinary words. */
const MIN_SECRET_LENGTH = 8;

/** A response may echo a secret, a header, or a part of one such as the token after `Bearer`: they are removed. */
function withoutSecrets(result: OutboundResult, { secrets, headers }: DecryptedColumns): OutboundResult {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const hidden = [...secrets, ...parts].filter((text) => text !== undefined && text.length >= MIN_SECRET_LENGTH);
  let { body } = result;
  for (const text of hidden) body = body?.replaceAll(text ?? '', '[removed]') ?? null;
  return { ...result, body };
}
