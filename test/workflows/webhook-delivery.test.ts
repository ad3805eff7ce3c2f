import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { AttemptOutcome } from '../../src/services/webhooks/deliveries/make-attempt.ts';
import { deliveryStateQuery, sendNow } from '../../src/workflows/webhook-delivery.ts';
import {
  being,
  DELIVERED,
  doing,
  end,
  FAILED,
  HOUR_MS,
  heldBack,
  webhookDeliveryPath,
} from '../support/fake-webhook-delivery.ts';
import { openPaths, type PathEnvironment, silenceTemporal, takePath } from '../support/histories.ts';
import { webhookDeliveryPaths } from '../support/histories-webhook-delivery.ts';
import { eventsOf } from '../support/history-events.ts';
import { connectToTemporal } from '../support/temporal.ts';

// Paths that wait for the server's clock run in parallel.
async function connect(): Promise<PathEnvironment & { connection: NativeConnection }> {
  silenceTemporal();
  const { connection, client } = await connectToTemporal();
  return { connection, ...(await openPaths(client, connection)) };
}
const connecting = connect();
beforeAll(async () => void (await connecting));
afterAll(async () => {
  const environment = await connecting;
  await environment.close();
  await environment.connection.close();
});

test.concurrent.each(webhookDeliveryPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  const { result } = await takePath(await connecting, path);
  expect(path.delivery.did).toEqual(path.does);
  expect(result).toEqual(path.endsIn);
});

test.concurrent('an attempt knows when the next one is; the last, that there is none', async () => {
  const path = webhookDeliveryPath('told', 'failed', [], {
    input: { retryWaitsMs: [10, 20], attemptsMade: 1 },
    outcomes: [FAILED],
  });
  await takePath(await connecting, path);
  expect(path.delivery.attempts.map(({ attempt, retryInMs }) => [attempt, retryInMs])).toEqual([
    [2, 20],
    [3, null],
  ]);
});

test.concurrent('an end before the first step sends nothing but the attempt that sees it', async () => {
  const path = webhookDeliveryPath('ended-at-once', 'abandoned', [], {
    input: { retryWaitsMs: [HOUR_MS] },
    outcomes: [FAILED],
    meanwhile: end,
  });
  const { result } = await takePath(await connecting, path);
  expect(result).toEqual({ state: 'abandoned' });
  expect(path.delivery.did).toEqual(['attempt 1']);
});

test.concurrent('a request during an attempt shortens no wait after it', async () => {
  const answer = Promise.withResolvers<AttemptOutcome>();
  const path = webhookDeliveryPath('hurried-while-sending', 'delivered', [], {
    input: { retryWaitsMs: [HOUR_MS, HOUR_MS], attemptsMade: 1, firstWait: { waitMs: HOUR_MS, reason: 'HTTP 503' } },
    outcomes: [answer.promise, DELIVERED],
    meanwhile: async (handle, delivery) => {
      await being(handle, 'waiting');
      await handle.signal(sendNow, '1');
      await doing(delivery, 'attempt 2');
      await handle.signal(sendNow, '1');
      answer.resolve(FAILED);
      await being(handle, 'waiting');
      expect(delivery.did).toEqual(['attempt 2']);
      await handle.signal(sendNow, '2');
    },
  });
  expect((await takePath(await connecting, path)).result).toEqual({ state: 'delivered' });
  expect(path.delivery.did).toEqual(['attempt 2', 'attempt 3']);
});

/** The current display for operators. */
async function look(handle: WorkflowHandle): Promise<string[]> {
  const state = await handle.query(deliveryStateQuery);
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return [state, currentDetails?.trim() ?? ''];
}

const AT = String.raw`at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
const matching = (text: string) => expect.stringMatching(new RegExp(`^\\*\\*${text}$`));

test.concurrent('operators see its progress', async () => {
  const answers = [Promise.withResolvers<AttemptOutcome>(), Promise.withResolvers<AttemptOutcome>()] as const;
  const seen: string[][] = [];
  const path = webhookDeliveryPath('watched', 'abandoned', [], {
    input: { retryWaitsMs: [HOUR_MS / 2, HOUR_MS] },
    outcomes: answers.map(({ promise }) => promise),
    meanwhile: async (handle, delivery) => {
      await doing(delivery, 'attempt 1');
      seen.push(await look(handle));
      answers[0].resolve(heldBack(2_000));
      await being(handle, 'held back');
      seen.push(await look(handle));
      await being(handle, 'sending');
      answers[1].resolve(FAILED);
      await being(handle, 'waiting');
      seen.push(await look(handle));
      await end(handle);
      await being(handle, 'abandoned');
      seen.push(await look(handle));
    },
  });
  const { history } = await takePath(await connecting, path);
  expect(seen).toEqual([
    ['sending', '**sending** attempt 1 of 3 to example.com'],
    ['held back', matching(`held back\\*\\* attempt 1 of 3 to example.com ${AT}: rate limit of the webhook`)],
    ['waiting', matching(`waiting\\*\\* retry 1 of 2 ${AT}: HTTP 503 from example.com`)],
    ['abandoned', '**abandoned** HTTP 503 from example.com'],
  ]);
  expect(eventsOf(history, 'TIMER_STARTED').map(({ summary }) => summary)).toEqual([
    'attempt 1 of 3 to example.com in 2 s: rate limit of the webhook',
    'retry 1 of 2 in 30 min: HTTP 503 from example.com',
  ]);
});

test.concurrent('operators see what it waits for before its first step', async () => {
  const seen: string[][] = [];
  const waiting = webhookDeliveryPath('watched-waiting', 'abandoned', [], {
    input: { attemptsMade: 1, firstWait: { waitMs: 60_000, reason: 'HTTP 503' } },
    meanwhile: async (handle) => {
      await being(handle, 'waiting');
      seen.push(await look(handle));
      await end(handle);
    },
  });
  const { history } = await takePath(await connecting, waiting);
  expect(seen).toEqual([['waiting', matching(`waiting\\*\\* retry 1 of 5 ${AT}: HTTP 503 from example.com`)]]);
  expect(eventsOf(history, 'TIMER_STARTED').map(({ summary }) => summary)).toEqual([
    'retry 1 of 5 in 1 min: HTTP 503 from example.com',
  ]);
});

test.concurrent('operators see how it ended', async () => {
  const delivered = webhookDeliveryPath('watched-delivered', 'delivered', [], {
    meanwhile: async (handle) => {
      await being(handle, 'delivered');
      expect(await look(handle)).toEqual(['delivered', '**delivered**']);
    },
  });
  const mailed = Promise.withResolvers<'sent'>();
  const failed = webhookDeliveryPath('watched-failed', 'failed', [], {
    input: { retryWaitsMs: [10] },
    outcomes: [FAILED],
    steps: { emailOwner: () => mailed.promise },
    meanwhile: async (handle, delivery) => {
      await doing(delivery, 'e-mail ntf');
      expect(await look(handle)).toEqual(['failed', '**failed** HTTP 503 from example.com']);
      mailed.resolve('sent');
    },
  });
  const results = await Promise.all([delivered, failed].map(async (path) => takePath(await connecting, path)));
  expect(results.map(({ result }) => result)).toEqual([{ state: 'delivered' }, { state: 'failed' }]);
});

test.concurrent('each attempt has its number and target', async () => {
  const path = webhookDeliveryPath('described', 'delivered', [], { outcomes: [FAILED, DELIVERED] });
  const { history } = await takePath(await connecting, path);
  expect(eventsOf(history, 'ACTIVITY_TASK_SCHEDULED').map(({ summary }) => summary)).toEqual([
    'attempt 1 of 6 to example.com',
    'attempt 2 of 6 to example.com',
  ]);
});
