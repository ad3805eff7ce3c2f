import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { installTemporalRuntime } from '../../src/foundation.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { activitiesWith } from '../support/histories-execute-prompt.ts';

const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
/** The SDK's core warns of a workflow task after 5 s. */
const LONG_CALL_MS = 6_500;
let connection: NativeConnection;
let client: Client;
let logged = '';
const log = pino(
  new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  }),
);
beforeAll(async () => {
  installTemporalRuntime(log);
  connection = await NativeConnection.connect({ address });
  client = new Client({ connection: await Connection.connect({ address }) });
});
afterAll(async () => {
  await client?.connection.close();
  await connection?.close();
});

test('the SDK warns of steps that fail, and not of calls that take long', async () => {
  const taskQueue = randomUUID();
  let failures = 0;
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
  expect(logged).toContain('the step failed');
  expect(logged).not.toContain('TMPRL1104');
});
