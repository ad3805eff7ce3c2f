import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { installTemporalRuntime } from '../../src/dependencies.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { captureLog } from '../support/captured-log.ts';
import { activitiesWith } from '../support/histories-execute-prompt.ts';
import { connectToTemporal } from '../support/temporal.ts';

/** The SDK's core warns of a workflow task after 5 s. */
const LONG_CALL_MS = 6_500;
const { log, lines } = captureLog();
let temporal: Awaited<ReturnType<typeof connectToTemporal>>;

beforeAll(async () => {
  installTemporalRuntime(log);
  temporal = await connectToTemporal();
});
afterAll(() => temporal.connection.close());

test('the SDK warns of steps that fail, and not of calls that take long', async () => {
  const taskQueue = randomUUID();
  let failures = 0;
  const { client, connection } = temporal;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await workflowBundle(log),
    activities: activitiesWith({
      async callModel() {
        await delay(LONG_CALL_MS);
        return null;
      },
      async recordCompletion() {
        failures += 1;
        if (failures === 1) throw new Error('the step failed');
        return 'completed';
      },
    }),
  });
  const input = { executionId: randomUUID(), model: 'openai/gpt-5', prompt: 'none', workspace: 'ws_1' };
  await worker.runUntil(client.workflow.execute('executePrompt', { taskQueue, workflowId: taskQueue, args: [input] }));
  const logged = JSON.stringify(lines);
  expect(logged).toContain('the step failed');
  expect(logged).not.toContain('TMPRL1104');
});
