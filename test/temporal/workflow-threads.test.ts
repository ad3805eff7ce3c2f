import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import { createLeanWorkers } from '../../src/temporal/workflow-threads.ts';
import { silenceTemporal } from '../support/histories.ts';

let options: WorkerOptions;
let client: Client;
let connections: (Connection | NativeConnection)[];

beforeAll(async () => {
  silenceTemporal();
  const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const connection = await NativeConnection.connect({ address });
  const forClient = await Connection.connect({ address });
  connections = [connection, forClient];
  client = new Client({ connection: forClient });
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  options = { connection, workflowBundle, taskQueue: `threads-${randomUUID()}` };
});

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
});

/** A log that keeps the messages of errors. */
function collectingLog(): { log: Logger; errors: string[] } {
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => errors.push(JSON.parse(line).msg) });
  return { log, errors };
}

const start = (type: string) =>
  client.workflow.start(type, { workflowId: `threads-${randomUUID()}`, taskQueue: options.taskQueue });

test('workflow code runs without a watchdog thread for each call', async () => {
  const { log, errors } = collectingLog();
  const { workers: worker, threads } = await createLeanWorkers(() => Worker.create(options), { log });
  try {
    expect(threads.lean).toBe(true);
    const result = await worker.runUntil(async () => (await start('answer')).result());
    expect(result).toBe(42);
    expect(errors).toEqual([]);
  } finally {
    threads.stop();
  }
});

test('workflow code that does not come back ends its worker', async () => {
  const { log, errors } = collectingLog();
  const { workers: worker, threads } = await createLeanWorkers(
    () => Worker.create({ ...options, taskQueue: `${options.taskQueue}-spin` }),
    { log, callLimitMs: 1_000 },
  );
  const handle = await client.workflow.start('spin', {
    workflowId: `threads-${randomUUID()}`,
    taskQueue: `${options.taskQueue}-spin`,
  });
  try {
    await expect(worker.run()).rejects.toThrow();
    expect(errors).toEqual([expect.stringMatching(/did not come back within 1000 ms/)]);
  } finally {
    threads.stop();
    await handle.terminate();
  }
});

test.each([
  { callStacks: false, finds: /stack traces are not enabled/ },
  { callStacks: true, finds: /at patience \(.*workflows\.ts:/ },
])('the call stacks of a workflow that waits, where they are $callStacks', async ({ callStacks, finds }) => {
  const { log, errors } = collectingLog();
  const { workers: worker, threads } = await createLeanWorkers(() => Worker.create(options), { log, callStacks });
  try {
    const answer = await worker.runUntil(async () => {
      const handle = await start('patience');
      const stack = await handle.query('__stack_trace').catch((error: Error) => error.message);
      await handle.terminate();
      return stack;
    });
    expect(answer).toMatch(finds);
    expect(threads.lean).toBe(true);
    expect(errors).toEqual([]);
  } finally {
    threads.stop();
  }
});

test('what the SDK no longer does as expected is said', async () => {
  const { log, errors } = collectingLog();
  const { threads } = await createLeanWorkers(async () => {}, { log });
  threads.stop();
  expect(threads.lean).toBe(false);
  expect(errors).toEqual([
    expect.stringMatching(/watchdog thread.* the Temporal SDK has changed/),
    expect.stringMatching(/call stacks.* the Temporal SDK has changed/),
  ]);
});
