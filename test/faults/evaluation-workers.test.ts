import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { expectRight, makeMaterial, type Run, sized, startRun } from '../support/fault-runs.ts';
import { type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import { type Started, until } from '../support/processes.ts';

const CONCURRENCY = 20;

let database: { url: string; drop(): Promise<void> };
let stage: Stage;
let workers: [Started, Started];

beforeAll(async () => {
  database = await createTestDatabase();
  stage = await setStage({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    latencyMs: 150,
  });
  [, ...workers] = await Promise.all([stage.startApi(), stage.startWorker(), stage.startWorker()]);
}, 120_000);
afterAll(async () => {
  await stage?.end();
  await database?.drop();
});

/** The worker that has a run's batch, and the one that has not. */
async function atWorkAndIdle({ workflowId }: Run): Promise<[Started, Started]> {
  const pid = await until('a worker has the batch', () => stage.workerOf(workflowId));
  const [first, second] = workers;
  return first.pid === pid ? [first, second] : [second, first];
}

async function untilWorkedOnBy({ pid }: Started, { workflowId }: Run): Promise<void> {
  await until('the other worker takes the batch over', async () => (await stage.workerOf(workflowId)) === pid, 60_000);
}

test('a worker that is asked to stop loses nothing, and another goes on', async () => {
  const material = await makeMaterial(stage.call, 'worker-stopped', sized(300));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(300) / 4);
  const [stopped, other] = await atWorkAndIdle(run);
  stopped.kill('SIGTERM');
  const { code, output } = await stopped.ended;
  expect(code).toBe(0);
  expect(output).not.toMatch(/could not stop|unhandled|"level":[56]0/);
  workers = [other, await stage.startWorker()];
  await expectRight(stage, run, material, 0);
}, 120_000);

test('another worker goes on with what a killed one had under way', async () => {
  const material = await makeMaterial(stage.call, 'worker-killed', sized(600));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(600) / 4);
  const [killed, other] = await atWorkAndIdle(run);
  await killed.killTree();
  await expectRight(stage, run, material, CONCURRENCY);
  workers = [other, await stage.startWorker()];
}, 120_000);

test('a worker that freezes and thaws does not get in the way of the one that has taken over', async () => {
  const material = await makeMaterial(stage.call, 'worker-frozen', sized(600));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(600) / 4);
  const [frozen, other] = await atWorkAndIdle(run);
  frozen.kill('SIGSTOP');
  await untilWorkedOnBy(other, run);
  frozen.kill('SIGCONT');
  await expectRight(stage, run, material, CONCURRENCY);
  for (const worker of workers) expect(worker.output()).not.toMatch(/unhandled|"level":[56]0/);
}, 120_000);

test('a run survives three kills of its only worker', async () => {
  const [spare, first] = workers;
  await spare.killTree();
  let worker = first;
  const material = await makeMaterial(stage.call, 'worker-killed-thrice', 1_000);
  const run = await startRun(stage.call, material, CONCURRENCY);
  for (const called of [200, 450, 700]) {
    await untilCalled(stage.model, material.prompts, called);
    await worker.killTree();
    worker = await stage.startWorker();
  }
  await expectRight(stage, run, material, 3 * CONCURRENCY);
}, 180_000);
