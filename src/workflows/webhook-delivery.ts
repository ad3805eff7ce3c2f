import {
  CancellationScope,
  CancelledFailure,
  condition,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { AttemptOutcome, WebhookActivities } from '../activities/webhook-delivery/webhook.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface WebhookDeliveryInput {
  /** UUID of the row in `deliveries`: the event and the webhook are read from it, so that they are not in the history. */
  deliveryId: string;
  /** The type of the event, shown to operators like the host. */
  event: string;
  host: string;
  /**
   * The waits before each retry; the specification's are 1 min, 5 min, 30 min, 2 h, 6 h. Empty: a single attempt, whose failure
   * disables nothing. No jitter is added. After a lost worker, only the rest of a wait is left.
   */
  retryWaitsMs: number[];
  /** Attempts made before this workflow started. */
  attemptsMade?: number;
  /** Starts with this wait, then makes its first attempt. */
  firstWait?: FirstWait;
}

/**
 * A wait before the next attempt and its reason: the failure of the last attempt or, if there was none, what defers the first one.
 */
export interface FirstWait {
  waitMs: number;
  reason: string;
}

export type WebhookDeliveryState = 'sending' | 'held back' | 'waiting' | 'delivered' | 'failed' | 'abandoned';

/** The webhook was disabled or deleted, and the delivery abandoned. */
export const deliveryEnded = defineSignal('deliveryEnded');
/** A slot for its attempt is reserved. */
export const placeFree = defineSignal('placeFree');
/**
 * Send it now instead of after the current wait. The argument is the number of attempts before that wait (decimal), so that a late
 * signal shortens no other wait; without it, any wait ends.
 */
export const sendNow = defineSignal<[attemptsMade?: string]>('sendNow');
/** The current state. */
export const deliveryStateQuery = defineQuery<WebhookDeliveryState>('state');

const attemptsWith = (summary: string) =>
  proxyActivities<Pick<WebhookActivities, 'attemptDelivery'>>({
    summary,
    // WEBHOOK_TIMEOUT bounds an attempt; missing heartbeats reveal a crashed worker.
    startToCloseTimeout: '15 minutes',
    heartbeatTimeout: '5 seconds',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  });

const { findNotification, abandonDelivery } =
  proxyLocalActivities<Pick<WebhookActivities, 'findNotification' | 'abandonDelivery'>>(LOCAL_STEP);

const { emailOwner } = proxyActivities<Pick<WebhookActivities, 'emailOwner'>>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 3, maximumInterval: '1 hour' },
});

/**
 * Delivers an event whose first attempt, by the relay, failed or was deferred: retries after each wait until one succeeds. When the
 * last retry has failed, the webhook is disabled and its owner notified (specification, Retries). Ends early if the webhook was
 * disabled or deleted.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<{ state: WebhookDeliveryState }> {
  try {
    return { state: await deliver(input) };
  } catch (error) {
    await CancellationScope.nonCancellable(() => abandonDelivery(input.deliveryId, 'Its workflow was canceled.'));
    // An attempt that is then lost with its worker ends in a timeout, not in a cancellation.
    throw CancellationScope.current().consideredCancelled ? new CancelledFailure('The delivery was canceled.') : error;
  }
}

async function deliver({
  deliveryId,
  host,
  retryWaitsMs,
  attemptsMade = 0,
  firstWait,
}: WebhookDeliveryInput): Promise<WebhookDeliveryState> {
  let state: WebhookDeliveryState = 'sending';
  let ended = false;
  setHandler(deliveryStateQuery, () => state);
  setHandler(deliveryEnded, () => {
    ended = true;
  });
  let offered = false;
  setHandler(placeFree, () => {
    offered = true;
  });
  let hurriedAfter = 0;
  setHandler(sendNow, (attempts) => {
    hurriedAfter = attempts === undefined ? Number.POSITIVE_INFINITY : Number(attempts);
  });
  const enter = (next: WebhookDeliveryState, details: string): WebhookDeliveryState => {
    state = next;
    setCurrentDetails(`**${next}** ${details}`);
    return next;
  };
  /** @returns whether the delivery was abandoned in the meantime */
  const wait = async (
    next: WebhookDeliveryState,
    ms: number,
    what: string,
    why: string,
    isCutShort: () => boolean,
  ): Promise<boolean> => {
    enter(next, `${what} at ${clockText(Date.now() + ms)}: ${why}`);
    const summary = `${what} in ${durationText(ms)}: ${why}`;
    await condition(() => ended || isCutShort(), ms, { summary });
    return ended;
  };
  const waitForPlace = (ms: number, what: string, why: string) => wait('held back', ms, what, why, () => offered);
  const nameOf = (attempt: number) => `attempt ${attempt} of ${retryWaitsMs.length + 1} to ${host}`;
  const sendAttempt = async (attempt: number, retryInMs: number | null): Promise<AttemptOutcome> => {
    const name = nameOf(attempt);
    for (;;) {
      enter('sending', name);
      offered = false;
      hurriedAfter = 0;
      const outcome = await attemptsWith(name).attemptDelivery({ deliveryId, attempt, retryInMs });
      if (outcome.state !== 'held back') return outcome;
      if (await waitForPlace(outcome.forMs, name, outcome.reason)) return { state: 'abandoned' };
    }
  };

  /** @returns whether the delivery was abandoned in the meantime */
  const waitToRetry = (retry: number, ms: number, why: string) =>
    wait('waiting', ms, `retry ${retry} of ${retryWaitsMs.length}`, why, () => hurriedAfter >= retry);

  if (firstWait !== undefined) {
    const { waitMs, reason } = firstWait;
    const isAbandoned =
      attemptsMade === 0
        ? await waitForPlace(waitMs, nameOf(1), reason)
        : await waitToRetry(attemptsMade, waitMs, `${reason} from ${host}`);
    if (isAbandoned) return enter('abandoned', reason);
  }
  for (let attempt = attemptsMade + 1; ; attempt += 1) {
    const retryInMs = retryWaitsMs[attempt - 1] ?? null;
    const outcome = await sendAttempt(attempt, retryInMs);
    if (outcome.state !== 'failed') return enter(outcome.state, '');
    const why = `${outcome.reason} from ${host}`;
    if (retryInMs === null) {
      enter('failed', why);
      break;
    }
    if (await waitToRetry(attempt, outcome.waitMs ?? retryInMs, why)) return enter('abandoned', why);
  }

  // The failure of the last retry has disabled the webhook: notify the owner even if the workflow is canceled now.
  if (retryWaitsMs.length > 0) await CancellationScope.nonCancellable(() => notifyOwner(deliveryId));
  return state;
}

/** If several deliveries fail together, the one that disabled the webhook notifies the owner. */
async function notifyOwner(deliveryId: string): Promise<void> {
  const notificationId = await findNotification(deliveryId);
  // The notification records that the e-mail could not be sent; the delivery has ended either way.
  if (notificationId !== null) await emailOwner(notificationId).catch(() => {});
}
