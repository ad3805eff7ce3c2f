import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectRight, makeMaterial, OUTAGE_MS, sized, startRun } from '../support/fault-runs.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';

const CONCURRENCY = 20;

let servers: OwnServers;
let stage: Stage;
let api: Started;
let worker: Started;

beforeAll(async () => {
  servers = await startOwnServers();
  stage = await setStage({ ...servers, latencyMs: 150 });
  [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
}, 120_000);
afterAll(async () => {
  await stage?.end();
  await servers?.remove();
});

/** API and worker got over it by themselves. */
function expectStillUp(): void {
  for (const { pid, output } of [api, worker]) {
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(output()).not.toMatch(/unhandled|"level":60/);
  }
}

test('a run goes on after an outage of the database and pays for nothing twice', async () => {
  const material = await makeMaterial(stage.call, 'database-outage', sized(600));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(600) / 3);
  await servers.postgres.stop();
  await delay(OUTAGE_MS);
  await servers.postgres.start();
  await expectRight(stage, run, material, CONCURRENCY);
  expectStillUp();
}, 180_000);

test('a run goes on while Temporal is away, and what it finished meanwhile is kept', async () => {
  const material = await makeMaterial(stage.call, 'temporal-outage', sized(1_000));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(1_000) / 5);
  await servers.temporal.stop();
  await delay(OUTAGE_MS);
  await servers.temporal.start();
  await expectRight(stage, run, material, CONCURRENCY);
  expectStillUp();
}, 180_000);

test('a run goes on after everything was killed at once', async () => {
  const material = await makeMaterial(stage.call, 'power-cut', sized(600));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(600) / 2);
  await Promise.all([api.killTree(), worker.killTree(), servers.postgres.kill(), servers.temporal.kill()]);
  await Promise.all([servers.postgres.start(), servers.temporal.start()]);
  [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
  await expectRight(stage, run, material, CONCURRENCY);
}, 180_000);
