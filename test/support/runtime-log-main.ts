// A separate process for test/temporal/runtime-log.test.ts: the SDK has one runtime per process, with one log. Prints the log.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { installTemporalRuntime } from '../../src/dependencies.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { captureLog } from './captured-log.ts';
import { activitiesWith } from './histories-execute-prompt.ts';
import { connectToTemporal } from './temporal.ts';

/** The SDK's core warns of a workflow task after 5 s. */
const LONG_CALL_MS = 6_500;
const { log, lines } = captureLog();
installTemporalRuntime(log);
const { client, connection } = await connectToTemporal();
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
await connection.close();
console.log(JSON.stringify(lines));
