import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { parseSettings } from '../../src/config.ts';
import {
  DELIVERED,
  FAILED,
  HOUR_MS,
  heldBack,
  mailRefused,
  webhookDeliveryPath,
} from '../support/fake-webhook-delivery.ts';
import { openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import { eventsOf } from '../support/history-events.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

const MINUTE_MS = 60_000;
/** Specification, Retries. */
const WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS];
const input = { retryWaitsMs: WAITS_MS };

let temporal: TestWorkflowEnvironment;
let environment: PathEnvironment;
beforeAll(async () => {
  temporal = await startTimeSkipping();
  environment = await openPaths(temporal.client, temporal.nativeConnection);
});
afterAll(async () => {
  await environment?.close();
  await temporal?.teardown();
});

/** From when each timer was started until it fired, to the second. */
function waited(history: string): number[] {
  const fired = eventsOf(history, 'TIMER_FIRED');
  return eventsOf(history, 'TIMER_STARTED').map(
    ({ timeMs }, index) => Math.round(((fired[index]?.timeMs ?? 0) - timeMs) / 1_000) * 1_000,
  );
}

/** When each attempt was requested, from the first one on. */
function attemptsAt(history: string): number[] {
  const times = eventsOf(history, 'ACTIVITY_TASK_SCHEDULED')
    .filter(({ activity }) => activity === 'attemptDelivery')
    .map(({ timeMs }) => timeMs);
  return times.map((time) => time - (times[0] ?? 0));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

test('without a setting, the waits are those of the specification', () => {
  expect(parseSettings({}).webhooks.retryWaitsMs).toEqual(WAITS_MS);
});

test('without success it is sent at once, after each wait, and no more; its owner is notified once', async () => {
  const path = webhookDeliveryPath('never-answered', 'failed', [], { input, outcomes: [FAILED] });
  const { history, result } = await takePath(environment, path);
  expect(result).toEqual({ state: 'failed' });
  expect(path.delivery.did).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((attempt) => `attempt ${attempt}`),
    'find notification',
    'e-mail ntf',
  ]);
  expect(path.delivery.attempts.map(({ retryInMs }) => retryInMs)).toEqual([...WAITS_MS, null]);

  const timers = eventsOf(history, 'TIMER_STARTED');
  expect(timers.map(({ waitMs }) => waitMs)).toEqual(WAITS_MS);
  expect(waited(history)).toEqual(WAITS_MS);
  expect(timers.map(({ summary }) => summary)).toEqual([
    'retry 1 of 5 in 1 min: HTTP 503 from example.com',
    'retry 2 of 5 in 5 min: HTTP 503 from example.com',
    'retry 3 of 5 in 30 min: HTTP 503 from example.com',
    'retry 4 of 5 in 2 h: HTTP 503 from example.com',
    'retry 5 of 5 in 6 h: HTTP 503 from example.com',
  ]);

  const [started] = eventsOf(history, 'WORKFLOW_EXECUTION_STARTED');
  const [first] = eventsOf(history, 'ACTIVITY_TASK_SCHEDULED');
  // Between the waits, this machine takes less time than the shortest of them.
  expect((first?.timeMs ?? 0) - (started?.timeMs ?? 0)).toBeLessThan(MINUTE_MS);
  for (const [index, at] of attemptsAt(history).entries()) {
    const due = sum(WAITS_MS.slice(0, index));
    expect(at).toBeGreaterThanOrEqual(due);
    expect(at).toBeLessThan(due + MINUTE_MS);
  }
  expect(attemptsAt(history).map((at) => Math.floor(at / MINUTE_MS))).toEqual([0, 1, 6, 36, 156, 8 * 60 + 36]);
});

test.each([1, 2, 3, 4, 5, 6])('answered well at attempt %d, it is not resent and no one is notified', async (good) => {
  const path = webhookDeliveryPath(`good-${good}`, 'delivered', [], {
    input,
    outcomes: [...Array.from({ length: good - 1 }, () => FAILED), DELIVERED],
  });
  const { history, result } = await takePath(environment, path);
  expect(result).toEqual({ state: 'delivered' });
  expect(path.delivery.did).toEqual(Array.from({ length: good }, (_, index) => `attempt ${index + 1}`));
  expect(waited(history)).toEqual(WAITS_MS.slice(0, good - 1));
});

test('if deferred, the same attempt is made after the requested time, and counts once', async () => {
  const path = webhookDeliveryPath('held-back', 'failed', [], {
    input: { retryWaitsMs: [MINUTE_MS] },
    outcomes: [heldBack(90 * MINUTE_MS), heldBack(2_371.532), FAILED, heldBack(30_000), DELIVERED],
  });
  const { history, result } = await takePath(environment, path);
  expect(result).toEqual({ state: 'delivered' });
  expect(path.delivery.did).toEqual(['attempt 1', 'attempt 1', 'attempt 1', 'attempt 2', 'attempt 2']);
  expect(eventsOf(history, 'TIMER_STARTED').map(({ waitMs = 0 }) => Math.floor(waitMs))).toEqual([
    90 * MINUTE_MS,
    2_371,
    MINUTE_MS,
    30_000,
  ]);
  expect(eventsOf(history, 'TIMER_STARTED').map(({ summary }) => summary)).toEqual([
    'attempt 1 of 2 to example.com in 1.5 h: rate limit of the webhook',
    'attempt 1 of 2 to example.com in 2.4 s: rate limit of the webhook',
    'retry 1 of 1 in 1 min: HTTP 503 from example.com',
    'attempt 2 of 2 to example.com in 30 s: rate limit of the webhook',
  ]);
});

test('continued after two attempts, it waits as long after the third as it would have', async () => {
  const path = webhookDeliveryPath('continued', 'failed', [], {
    input: { ...input, attemptsMade: 2 },
    outcomes: [FAILED],
  });
  const { history, result } = await takePath(environment, path);
  expect(result).toEqual({ state: 'failed' });
  expect(path.delivery.did).toEqual([
    'attempt 3',
    'attempt 4',
    'attempt 5',
    'attempt 6',
    'find notification',
    'e-mail ntf',
  ]);
  expect(waited(history)).toEqual(WAITS_MS.slice(2));
});

test('an e-mail is tried again while the mail server is away', async () => {
  let left = 7;
  const path = webhookDeliveryPath('mail-server-away', 'failed', [], {
    input: { retryWaitsMs: [MINUTE_MS] },
    outcomes: [FAILED],
    steps: {
      emailOwner: async () => {
        left -= 1;
        if (left >= 0) throw new Error('The mail server did not answer in time.');
        return 'sent';
      },
    },
  });
  expect((await takePath(environment, path)).result).toEqual({ state: 'failed' });
  expect(path.delivery.did.filter((what) => what === 'e-mail ntf')).toHaveLength(8);
  expect(path.delivery.did.filter((what) => what === 'find notification')).toHaveLength(1);
});

test('a delivery whose owner cannot be e-mailed fails all the same: at once if mail is refused, else after a day', async () => {
  const away = async () => {
    throw new Error('The mail server did not answer in time.');
  };
  const tries: number[] = [];
  for (const [name, emailOwner] of Object.entries({ refused: mailRefused, away })) {
    const path = webhookDeliveryPath(`mail-${name}`, 'failed', [], {
      input: { retryWaitsMs: [MINUTE_MS] },
      outcomes: [FAILED],
      steps: { emailOwner },
    });
    const { history, result } = await takePath(environment, path);
    expect(result).toEqual({ state: 'failed' });
    const [completed] = eventsOf(history, 'WORKFLOW_EXECUTION_COMPLETED');
    const [mail] = eventsOf(history, 'ACTIVITY_TASK_SCHEDULED').filter(({ activity }) => activity === 'emailOwner');
    expect((completed?.timeMs ?? 0) - (mail?.timeMs ?? 0)).toBeLessThan(25 * HOUR_MS);
    tries.push(path.delivery.did.filter((what) => what === 'e-mail ntf').length);
  }
  expect(tries[0]).toBe(1);
  expect(tries[1]).toBeGreaterThan(20);
});
