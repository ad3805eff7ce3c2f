import { ApplicationFailure } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { withHeartbeats } from '../../src/activities/heartbeats.ts';
import type { WebhookActivities } from '../../src/activities/webhook-delivery/webhook.ts';
import type { AttemptOutcome, AttemptTask } from '../../src/services/webhooks/deliveries/make-attempt.ts';
import {
  deliveryEnded,
  deliveryStateQuery,
  type WebhookDeliveryInput,
  type WebhookDeliveryState,
} from '../../src/workflows/webhook-delivery.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

const { PENDING_ACTIVITY_STATE_CANCEL_REQUESTED } = proto.temporal.api.enums.v1.PendingActivityState;

/** A delivery without a database or a receiver. */
export interface FakeDelivery {
  /** The calls of its activities: `attempt 1`, `find notification`, `e-mail ntf`, `abandon: why`. */
  did: string[];
  attempts: AttemptTask[];
  /** The outcomes of its attempts in order; the last one repeats. A promise makes the attempt last until it settles. */
  outcomes: (AttemptOutcome | Promise<AttemptOutcome>)[];
}

/** A path with its delivery, the actions on it, and its expected end. */
export type WebhookDeliveryPath = Path & {
  delivery: FakeDelivery;
  does: string[];
  endsIn: { state: WebhookDeliveryState } | 'canceled';
};

export const HOUR_MS = 3_600_000;
export const DELIVERED: AttemptOutcome = { state: 'delivered' };
export const FAILED: AttemptOutcome = { state: 'failed', reason: 'HTTP 503' };

/** @param forMs can have a fraction, as in slots */
export const heldBack = (forMs: number): AttemptOutcome => ({
  state: 'held back',
  forMs,
  reason: 'rate limit of the webhook',
});

const INPUT: WebhookDeliveryInput = {
  deliveryId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  event: 'prompt.created',
  host: 'example.com',
  retryWaitsMs: [10, 20, 30, 40, 50],
};

/** How a path differs from an immediate delivery. */
export interface Parts {
  input?: Partial<WebhookDeliveryInput>;
  outcomes?: FakeDelivery['outcomes'];
  /** Replacements for successful steps. */
  steps?: Partial<WebhookActivities>;
  meanwhile?: (handle: WorkflowHandle, delivery: FakeDelivery) => Promise<void>;
}

function stepsOn(delivery: FakeDelivery, others: Partial<WebhookActivities>): WebhookActivities {
  const { did, attempts, outcomes } = delivery;
  const noting =
    <Args extends unknown[], T>(name: (...args: Args) => string, step: (...args: Args) => Promise<T>) =>
    (...args: Args) => {
      did.push(name(...args));
      return step(...args);
    };
  const send = async (): Promise<AttemptOutcome> =>
    withHeartbeats(async () => outcomes[Math.min(attempts.length, outcomes.length) - 1] ?? DELIVERED);
  return {
    attemptDelivery: noting(
      ({ attempt }) => `attempt ${attempt}`,
      (task) => {
        attempts.push(task);
        return (others.attemptDelivery ?? send)(task);
      },
    ),
    findNotification: noting((_id: string) => 'find notification', others.findNotification ?? (async () => 'ntf')),
    abandonDelivery: noting(
      (_id: string, reason: string) => `abandon: ${reason}`,
      others.abandonDelivery ?? (async () => {}),
    ),
    emailOwner: noting((id: string) => `e-mail ${id}`, others.emailOwner ?? (async () => 'sent' as const)),
  };
}

/** A path by name, with its expected end, its actions, and its differences from an immediate delivery. */
export function webhookDeliveryPath(
  name: string,
  endsIn: WebhookDeliveryState | 'canceled',
  does: string[],
  { input, outcomes = [DELIVERED], steps = {}, meanwhile }: Parts = {},
): WebhookDeliveryPath {
  const delivery: FakeDelivery = { did: [], attempts: [], outcomes };
  return {
    name,
    does,
    delivery,
    endsIn: endsIn === 'canceled' ? endsIn : { state: endsIn },
    workflow: 'webhookDelivery',
    args: [{ ...INPUT, ...input }],
    activities: { ...stepsOn(delivery, steps) },
    ...(meanwhile && { meanwhile: (handle) => meanwhile(handle, delivery) }),
  };
}

export const being = (handle: WorkflowHandle, state: WebhookDeliveryState) =>
  until(`it to be ${state}`, async () => (await handle.query(deliveryStateQuery)) === state);
export const doing = (delivery: FakeDelivery, what: string) =>
  until(`"${what}" to be asked for`, async () => delivery.did.includes(what));

/** Like the relay, once the row says so. */
export const end = (handle: WorkflowHandle) => handle.signal(deliveryEnded);

/** Cancels, and waits until the attempt is notified. */
export async function cancelAttempt(handle: WorkflowHandle): Promise<void> {
  await handle.cancel();
  await until('the attempt to be told', async () => {
    const { raw } = await handle.describe();
    return raw.pendingActivities?.some(({ state }) => state === PENDING_ACTIVITY_STATE_CANCEL_REQUESTED);
  });
}

/** A mail server that will not have the mail. */
export async function mailRefused(): Promise<never> {
  throw ApplicationFailure.nonRetryable('The mail server refused the recipient.');
}
