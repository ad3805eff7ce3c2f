import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { installTemporalRuntime } from '../../src/dependencies.ts';
import { boundedFailures } from '../../src/temporal/bounded-failures.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { activitiesWith } from '../support/histories-execute-prompt.ts';
import { connectToTemporal } from '../support/temporal.ts';

const log = pino({ level: 'silent' });
let temporal: Awaited<ReturnType<typeof connectToTemporal>>;

beforeAll(async () => {
  installTemporalRuntime(log);
  temporal = await connectToTemporal();
});
afterAll(() => temporal.connection.close());

const wild = (nextRetryDelay: number, message = 'wild') =>
  ApplicationFailure.create({ type: 'wild', message, nonRetryable: true, nextRetryDelay });
const deep = () => {
  let error = new Error('the last');
  for (let depth = 0; depth < 50; depth++) error = new Error('x'.repeat(100_000), { cause: error });
  return ApplicationFailure.create({ message: 'deep', nonRetryable: true, cause: error });
};

/** Failures that end an unbounded worker, or never reach Temporal. */
const FAILURES: [string, () => Error][] = [
  ['an endless delay', () => wild(Number.POSITIVE_INFINITY)],
  ['a delay that is not a number', () => wild(Number.NaN)],
  ['a negative delay', () => wild(-1e300)],
  ['a message of 8 MB', () => wild(1, 'x'.repeat(8_000_000))],
  ['half of a character', () => wild(1, '\ud800 and \u0000')],
  ['a chain of causes', deep],
];

test.each(FAILURES)('a worker survives an activity that fails with %s', async (_name, error) => {
  const told: unknown[] = [];
  const taskQueue = randomUUID();
  const { client, connection } = temporal;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await workflowBundle(log),
    interceptors: { activity: [boundedFailures] },
    activities: activitiesWith({
      callModel: async () => {
        throw error();
      },
      recordFailure: async (_id, failure) => {
        told.push(failure);
        return 'failed';
      },
    }),
  });
  const result = await worker.runUntil(
    client.workflow.execute('executePrompt', {
      workflowId: randomUUID(),
      taskQueue,
      args: [{ executionId: randomUUID(), model: 'openai/gpt-4o-mini' }],
    }),
  );
  expect(result).toEqual({ state: 'failed' });
  const [failure] = told as [{ message: string }];
  expect(failure.message.length).toBeLessThanOrEqual(4_000);
  expect(failure.message.isWellFormed()).toBe(true);
});
