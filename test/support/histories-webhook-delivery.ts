import { ApplicationFailure } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { AttemptOutcome } from '../../src/services/webhooks/deliveries/make-attempt.ts';
import { placeFree, sendNow, type WebhookDeliveryState } from '../../src/workflows/webhook-delivery.ts';
import {
  being,
  cancelAttempt,
  DELIVERED,
  doing,
  end,
  FAILED,
  HOUR_MS,
  heldBack,
  mailRefused,
  type Parts,
  type WebhookDeliveryPath,
  webhookDeliveryPath,
} from './fake-webhook-delivery.ts';
import { until } from './wait-for.ts';

const SIX_ATTEMPTS = ['attempt 1', 'attempt 2', 'attempt 3', 'attempt 4', 'attempt 5', 'attempt 6'];
const CANCELED = 'abandon: Its workflow was canceled.';

const endWhile = (state: WebhookDeliveryState) => async (handle: WorkflowHandle) => {
  await being(handle, state);
  await end(handle);
};
const cancelWhile = (state: WebhookDeliveryState) => async (handle: WorkflowHandle) => {
  await being(handle, state);
  await handle.cancel();
};

/** Something happens during an attempt, which then has this outcome. */
function meanwhileAttempt(
  attempt: number,
  outcome: AttemptOutcome,
  happens: (handle: WorkflowHandle) => Promise<unknown>,
): Required<Pick<Parts, 'outcomes' | 'meanwhile'>> {
  const answer = Promise.withResolvers<AttemptOutcome>();
  return {
    outcomes: [...Array.from({ length: attempt - 1 }, () => FAILED), answer.promise],
    meanwhile: async (handle, delivery) => {
      await doing(delivery, `attempt ${attempt}`);
      await happens(handle);
      answer.resolve(outcome);
    },
  };
}

/** The first attempt is never heard of again, as if its worker had crashed. */
function losingAttempt({ meanwhile }: Pick<Parts, 'meanwhile'> = {}): Parts {
  const never = Promise.withResolvers<AttemptOutcome>();
  let isLost = false;
  return {
    steps: {
      attemptDelivery: async () => {
        if (isLost) return DELIVERED;
        isLost = true;
        return never.promise;
      },
    },
    meanwhile: async (handle, delivery) => {
      await meanwhile?.(handle, delivery);
      // The worker of the path waits for its activities when it stops.
      await handle.result().catch(() => {});
      never.resolve(DELIVERED);
    },
  };
}

function cancelingMail(): Parts {
  const sent = Promise.withResolvers<'sent'>();
  return {
    input: { retryWaitsMs: [10] },
    outcomes: [FAILED],
    steps: { emailOwner: () => sent.promise },
    meanwhile: async (handle, delivery) => {
      await doing(delivery, 'e-mail ntf');
      await handle.cancel();
      sent.resolve('sent');
    },
  };
}

/** Goes well at the second try, which is far enough away to be a timer of the workflow. */
function afterOutage<T>(result: T): () => Promise<T> {
  let isAway = true;
  return async () => {
    if (isAway) {
      isAway = false;
      throw ApplicationFailure.create({ message: 'no database', nextRetryDelay: '11 seconds' });
    }
    return result;
  };
}

function deliveredPaths(): WebhookDeliveryPath[] {
  return [
    webhookDeliveryPath('delivered-at-once', 'delivered', ['attempt 1']),
    webhookDeliveryPath('delivered-after-retries', 'delivered', ['attempt 1', 'attempt 2', 'attempt 3'], {
      outcomes: [FAILED, FAILED, DELIVERED],
    }),
    webhookDeliveryPath('held-back-then-delivered', 'delivered', ['attempt 1', 'attempt 1', 'attempt 1'], {
      outcomes: [heldBack(10.5), heldBack(20.25), DELIVERED],
    }),
    webhookDeliveryPath('held-back-and-invited', 'delivered', ['attempt 1', 'attempt 1'], {
      outcomes: [heldBack(HOUR_MS), DELIVERED],
      meanwhile: async (handle) => {
        await being(handle, 'held back');
        await handle.signal(placeFree);
      },
    }),
    webhookDeliveryPath('continued-after-two-attempts', 'delivered', ['attempt 3', 'attempt 4'], {
      input: { attemptsMade: 2 },
      outcomes: [FAILED, DELIVERED],
    }),
    webhookDeliveryPath('sent-now-while-waiting', 'delivered', ['attempt 1', 'attempt 2'], {
      input: { retryWaitsMs: [HOUR_MS] },
      outcomes: [FAILED, DELIVERED],
      meanwhile: async (handle) => {
        await being(handle, 'waiting');
        await handle.signal(sendNow);
      },
    }),
    webhookDeliveryPath('waiting-at-first', 'delivered', ['attempt 2', 'attempt 3'], {
      input: { attemptsMade: 1, firstWait: { waitMs: 10, reason: 'HTTP 503' } },
      outcomes: [FAILED, DELIVERED],
    }),
    webhookDeliveryPath('held-back-at-first', 'delivered', ['attempt 1'], {
      input: { firstWait: { waitMs: 10.5, reason: 'rate limit of the webhook' } },
    }),
    webhookDeliveryPath('delivered-after-its-worker-died', 'delivered', ['attempt 1', 'attempt 1'], losingAttempt()),
    webhookDeliveryPath('abandoned-at-the-attempt', 'abandoned', ['attempt 1', 'attempt 2'], {
      outcomes: [FAILED, { state: 'abandoned' }],
    }),
  ];
}

function failedPaths(): WebhookDeliveryPath[] {
  const once = { retryWaitsMs: [10] };
  return [
    webhookDeliveryPath('exhausted', 'failed', [...SIX_ATTEMPTS, 'find notification', 'e-mail ntf'], {
      outcomes: [FAILED],
    }),
    webhookDeliveryPath('exhausted-as-another-was', 'failed', ['attempt 1', 'attempt 2', 'find notification'], {
      input: once,
      outcomes: [FAILED],
      steps: { findNotification: async () => null },
    }),
    webhookDeliveryPath(
      'exhausted-and-mail-refused',
      'failed',
      ['attempt 1', 'attempt 2', 'find notification', 'e-mail ntf'],
      {
        input: once,
        outcomes: [FAILED],
        steps: { emailOwner: mailRefused },
      },
    ),
    webhookDeliveryPath(
      'exhausted-during-an-outage',
      'failed',
      ['attempt 1', 'attempt 2', 'find notification', 'find notification', 'e-mail ntf'],
      { input: once, outcomes: [FAILED], steps: { findNotification: afterOutage('ntf') } },
    ),
    webhookDeliveryPath('test-that-failed', 'failed', ['attempt 1'], {
      input: { retryWaitsMs: [] },
      outcomes: [FAILED],
    }),
  ];
}

function endedPaths(): WebhookDeliveryPath[] {
  return [
    webhookDeliveryPath('ended-while-waiting', 'abandoned', ['attempt 1'], {
      input: { retryWaitsMs: [HOUR_MS] },
      outcomes: [FAILED],
      meanwhile: endWhile('waiting'),
    }),
    webhookDeliveryPath('ended-while-waiting-at-first', 'abandoned', [], {
      input: { attemptsMade: 1, firstWait: { waitMs: HOUR_MS, reason: 'HTTP 503' } },
      meanwhile: endWhile('waiting'),
    }),
    webhookDeliveryPath('ended-while-held-back-at-first', 'abandoned', [], {
      input: { firstWait: { waitMs: HOUR_MS, reason: 'rate limit of the webhook' } },
      meanwhile: endWhile('held back'),
    }),
    webhookDeliveryPath('ended-while-held-back', 'abandoned', ['attempt 1'], {
      outcomes: [heldBack(HOUR_MS)],
      meanwhile: endWhile('held back'),
    }),
    webhookDeliveryPath('ended-during-an-attempt-that-failed', 'abandoned', ['attempt 1'], {
      input: { retryWaitsMs: [HOUR_MS] },
      ...meanwhileAttempt(1, FAILED, end),
    }),
    webhookDeliveryPath('ended-during-an-attempt-that-was-held-back', 'abandoned', ['attempt 1'], {
      ...meanwhileAttempt(1, heldBack(HOUR_MS), end),
    }),
    webhookDeliveryPath('ended-during-an-attempt-that-was-answered', 'delivered', ['attempt 1'], {
      ...meanwhileAttempt(1, DELIVERED, end),
    }),
    webhookDeliveryPath(
      'ended-during-the-last-attempt',
      'failed',
      ['attempt 1', 'attempt 2', 'find notification', 'e-mail ntf'],
      { input: { retryWaitsMs: [10] }, ...meanwhileAttempt(2, FAILED, end) },
    ),
  ];
}

function canceledPaths(): WebhookDeliveryPath[] {
  return [
    webhookDeliveryPath('canceled-while-waiting', 'canceled', ['attempt 1', CANCELED], {
      input: { retryWaitsMs: [HOUR_MS] },
      outcomes: [FAILED],
      meanwhile: cancelWhile('waiting'),
    }),
    webhookDeliveryPath('canceled-while-waiting-at-first', 'canceled', [CANCELED], {
      input: { attemptsMade: 1, firstWait: { waitMs: HOUR_MS, reason: 'HTTP 503' } },
      meanwhile: cancelWhile('waiting'),
    }),
    webhookDeliveryPath('canceled-while-held-back', 'canceled', ['attempt 1', CANCELED], {
      outcomes: [heldBack(HOUR_MS)],
      meanwhile: cancelWhile('held back'),
    }),
    webhookDeliveryPath('canceled-while-an-attempt-cannot-be-made', 'canceled', ['attempt 1', CANCELED], {
      steps: {
        attemptDelivery: async () => {
          throw ApplicationFailure.create({ message: 'no such key', nextRetryDelay: HOUR_MS });
        },
      },
      meanwhile: async (handle) => {
        await until('the attempt to have gone wrong', async () => {
          const { raw } = await handle.describe();
          return raw.pendingActivities?.some(({ lastFailure }) => lastFailure != null);
        });
        await handle.cancel();
      },
    }),
    webhookDeliveryPath('canceled-during-an-attempt', 'canceled', ['attempt 1', CANCELED], {
      input: { retryWaitsMs: [HOUR_MS] },
      ...meanwhileAttempt(1, FAILED, cancelAttempt),
    }),
    webhookDeliveryPath('canceled-during-an-attempt-that-was-lost', 'canceled', ['attempt 1', CANCELED], {
      ...losingAttempt({
        meanwhile: async (handle, delivery) => {
          await doing(delivery, 'attempt 1');
          await handle.cancel();
        },
      }),
    }),
    webhookDeliveryPath('canceled-during-an-attempt-that-was-answered', 'delivered', ['attempt 1'], {
      ...meanwhileAttempt(1, DELIVERED, cancelAttempt),
    }),
    webhookDeliveryPath(
      'canceled-during-the-last-attempt',
      'failed',
      ['attempt 1', 'attempt 2', 'find notification', 'e-mail ntf'],
      { input: { retryWaitsMs: [10] }, ...meanwhileAttempt(2, FAILED, cancelAttempt) },
    ),
    webhookDeliveryPath(
      'canceled-while-the-owner-is-told',
      'failed',
      ['attempt 1', 'attempt 2', 'find notification', 'e-mail ntf'],
      cancelingMail(),
    ),
    webhookDeliveryPath('canceled-during-an-outage', 'canceled', ['attempt 1', CANCELED, CANCELED], {
      input: { retryWaitsMs: [HOUR_MS] },
      outcomes: [FAILED],
      steps: { abandonDelivery: afterOutage(undefined) },
      meanwhile: cancelWhile('waiting'),
    }),
  ];
}

/** Every path through `webhookDelivery`. */
export function webhookDeliveryPaths(): WebhookDeliveryPath[] {
  return [...deliveredPaths(), ...failedPaths(), ...endedPaths(), ...canceledPaths()];
}
