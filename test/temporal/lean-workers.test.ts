import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  type NativeConnection,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { createLeanWorkers } from '../../src/temporal/lean-workers.ts';
import { captureLog } from '../support/captured-log.ts';
import { silenceTemporal } from '../support/histories.ts';
import { connectToTemporal, TEMPORAL_ADDRESS } from '../support/temporal.ts';
import { waitFor } from '../support/wait-for.ts';

let options: WorkerOptions;
let client: Client;
let connection: NativeConnection;

beforeAll(async () => {
  silenceTemporal();
  const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));
  ({ connection, client } = await connectToTemporal());
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  options = { connection, workflowBundle, taskQueue: `lean-${randomUUID()}` };
});

afterAll(() => connection.close());

const start = (type: string, taskQueue = options.taskQueue) =>
  client.workflow.start(type, { workflowId: `lean-${randomUUID()}`, taskQueue });

test('workflow code runs in this thread, and no thread is started for a call', async () => {
  const { log, lines } = captureLog();
  const {
    workers: worker,
    isLean,
    stop,
  } = await createLeanWorkers((lean) => Worker.create({ ...options, ...lean }), {
    log,
  });
  try {
    expect(isLean).toBe(true);
    expect(await worker.runUntil(async () => (await start('answer')).result())).toBe(42);
    expect(worker.options.debugMode).toBe(true);
    expect(lines).toEqual([]);
  } finally {
    stop();
  }
});

test('workflow code that never returns ends its process', async () => {
  const main = fileURLToPath(new URL('./lean-worker-main.ts', import.meta.url));
  const taskQueue = `lean-${randomUUID()}`;
  const child = spawn(process.execPath, [main, TEMPORAL_ADDRESS, taskQueue], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = text(child.stderr);
  const handle = await start('spin', taskQueue);
  try {
    const [, signal] = await once(child, 'exit');
    expect({ signal, said: await said }).toEqual({
      signal: 'SIGKILL',
      said: expect.stringContaining('did not return within 1000 ms'),
    });
  } finally {
    child.kill('SIGKILL');
    await handle.terminate();
  }
});

test('an unhandled rejection in workflow code fails only its task', async () => {
  const main = fileURLToPath(new URL('./lean-worker-main.ts', import.meta.url));
  const taskQueue = `lean-${randomUUID()}`;
  const child = spawn(process.execPath, [main, TEMPORAL_ADDRESS, taskQueue], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = text(child.stderr);
  const answers = async () => {
    const answer = await start('answer', taskQueue);
    return waitFor('an answer', async () => {
      if (child.exitCode !== null) throw new Error(`The process has ended: ${await said}`);
      return (await answer.describe()).status.name === 'COMPLETED';
    });
  };
  try {
    const careless = await start('careless', taskQueue);
    await answers();
    const failure = await waitFor('a task that failed', async () => {
      const { events } = await careless.fetchHistory();
      return events?.find((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes;
    });
    expect(failure.failure?.message).toMatch(/Unhandled Promise rejection.*left alone/);
    await answers();
    await careless.terminate();
  } finally {
    child.kill('SIGKILL');
  }
  expect(await said).toContain('of the process');
});

test.each([
  { callStacks: false, finds: /stack traces are not enabled/ },
  { callStacks: true, finds: /at patience \(.*workflows\.ts:/ },
])('the call stacks of a waiting workflow, if they are $callStacks', async ({ callStacks, finds }) => {
  const { log, lines } = captureLog();
  const create = (lean: Pick<WorkerOptions, 'debugMode'>) => Worker.create({ ...options, ...lean });
  const { workers: worker, isLean, stop } = await createLeanWorkers(create, { log, callStacks });
  try {
    const answer = await worker.runUntil(async () => {
      const handle = await start('patience');
      const stack = await handle.query('__stack_trace').catch((error: Error) => error.message);
      await handle.terminate();
      return stack;
    });
    expect(answer).toMatch(finds);
    expect(isLean).toBe(!callStacks);
    expect(lines).toEqual([]);
  } finally {
    stop();
  }
});

test('a changed SDK is logged', async () => {
  const { log, lines } = captureLog();
  const { isLean, stop } = await createLeanWorkers(async () => {}, { log });
  stop();
  expect(isLean).toBe(false);
  expect(lines).toMatchObject([{ msg: expect.stringMatching(/the Temporal SDK has changed/) }]);
});
