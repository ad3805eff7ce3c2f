import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { expectRight, makeMaterial, OUTAGE_MS, sized, startRun } from '../support/fault-runs.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { behave, isAlive, type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';

const CONCURRENCY = 20;
/** Heartbeat timeout of a batch: see the workflow. */
const HEARTBEAT_TIMEOUT_MS = 10_000;

let servers: OwnServers;
let stage: Stage;
let api: Started;
let worker: Started;

beforeAll(async () => {
  servers = await startOwnServers();
  stage = await setStage({ ...servers, latencyMs: 150, env: { MODEL_TIMEOUT: '10m' } });
  [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
});
afterAll(async () => {
  await stage?.end();
  await servers?.remove();
});

/** API and worker recovered automatically. */
function expectStillUp(): void {
  for (const started of [api, worker]) {
    expect(isAlive(started.pid)).toBe(true);
    expect(started.output()).not.toMatch(/unhandled|"level":60/);
  }
}

test('a run continues after a database outage and pays for nothing twice', async () => {
  const material = await makeMaterial(stage.call, 'database-outage', sized(400));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(400) / 3);
  await servers.postgres.stop();
  await delay(OUTAGE_MS);
  await servers.postgres.start();
  await expectRight(stage, run, material, CONCURRENCY);
  expectStillUp();
});

test('while Temporal is down a run continues and keeps its results; calls in flight of a batch that Temporal gave up are waited for, not paid for again', async () => {
  await behave(stage.model, { mode: 'hold', matching: 'lost-sight-of' });
  const held = await makeMaterial(stage.call, 'lost-sight-of', CONCURRENCY);
  const heldRun = await startRun(stage.call, held, CONCURRENCY);
  await untilCalled(stage.model, held.prompts, CONCURRENCY);
  const material = await makeMaterial(stage.call, 'temporal-outage', sized(400));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(400) / 5);
  // A heartbeat right after Temporal's return may be in time.
  for (let outage = 1, isTakenOver = false; !isTakenOver && outage <= 10; outage += 1) {
    await servers.temporal.stop();
    await delay(Math.max(OUTAGE_MS, HEARTBEAT_TIMEOUT_MS));
    await servers.temporal.start();
    const nextAttempt = async () => (await stage.attemptOf(heldRun.workflowId)) > 1;
    isTakenOver = await until('the next attempt', nextAttempt, 2 * HEARTBEAT_TIMEOUT_MS).catch(() => false);
  }
  expect(await stage.attemptOf(heldRun.workflowId)).toBeGreaterThan(1);
  await behave(stage.model, {});
  await expectRight(stage, heldRun, held, 0);
  await expectRight(stage, run, material, CONCURRENCY);
  expectStillUp();
});

test('a run resumes after everything was killed at once', async () => {
  const material = await makeMaterial(stage.call, 'power-cut', sized(400));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, sized(400) / 2);
  await Promise.all([api.killTree(), worker.killTree(), servers.postgres.kill(), servers.temporal.kill()]);
  await Promise.all([servers.postgres.start(), servers.temporal.start()]);
  [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
  await expectRight(stage, run, material, CONCURRENCY);
});

test('a run runs even if its API was killed after accepting it', async () => {
  const material = await makeMaterial(stage.call, 'accepted', sized(40));
  const run = await startRun(stage.call, material, CONCURRENCY);
  await api.killTree();
  api = await stage.startApi();
  await expectRight(stage, run, material, 0);
});

test('while Temporal is down a run is refused and does not run later; one whose API was killed between its row and its workflow is started, and its caller can retry', async () => {
  const refused = await makeMaterial(stage.call, 'refused', 4);
  const material = await makeMaterial(stage.call, 'half-started', sized(40));
  const database = new pg.Client(servers.databaseUrl);
  await database.connect();
  const count = async () => {
    const { rows } = await database.query('select id from evaluations where prompt_name = $1', [material.name]);
    return rows.length;
  };
  const ask = () =>
    stage.call('POST', '/evaluations', {
      body: { prompt_name: material.name, dataset: material.name, concurrency: CONCURRENCY, threshold: 0.7 },
      headers: { 'Idempotency-Key': 'half-started' },
    });
  await servers.temporal.stop();
  const refusal = await stage.call('POST', '/evaluations', {
    body: { prompt_name: refused.name, dataset: refused.name },
  });
  expect(refusal).toMatchObject({ status: 500, body: { error: { code: 'temporarily_unavailable' } } });
  const unanswered = ask().catch(() => undefined);
  await until('the row is there', async () => (await count()) === 1);
  await api.killTree();
  expect(await unanswered).toBeUndefined();
  await servers.temporal.start();
  // No caller was notified of it: it is withdrawn, or started by the repeated request, whichever comes first.
  await database.query(`update evaluations set created_at = now() - interval '31 seconds' where prompt_name = $1`, [
    material.name,
  ]);
  api = await stage.startApi();
  const { status, body } = await until('its creation', async () => {
    const answer = await ask();
    return answer.status === 201 ? answer : undefined;
  });
  expect(status).toBe(201);
  await expectRight(stage, { id: body.id, workflowId: body.workflow_id }, material, 0);
  expect(await count()).toBe(1);
  await database.end();
  expect((await stage.call('GET', `/evaluations?prompt_name=${refused.name}`)).body.data).toEqual([]);
});
