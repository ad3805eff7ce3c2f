import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { expectRight, makeMaterial, type Run, resultsOf, sized, startRun } from '../support/fault-runs.ts';
import { startOwnServers } from '../support/fault-servers.ts';
import { behave, type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

const CONCURRENCY = 20;
/** Of a batch: see the workflow. */
const HEARTBEAT_TIMEOUT_MS = 10_000;

// Most of their time they wait for heartbeats to be missed: they do that side by side, each on a stage of its own.
const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function stageOn(
  servers: { databaseUrl: string; temporalAddress: string },
  latencyMs: number,
  env: Record<string, string> = {},
): Promise<Stage> {
  const stage = await setStage({ ...servers, latencyMs, env });
  cleanUps.push(() => stage.end());
  await stage.startApi();
  return stage;
}

async function stageWithApi(latencyMs: number, env: Record<string, string> = {}): Promise<Stage> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  return stageOn({ databaseUrl: database.url, temporalAddress }, latencyMs, env);
}

const idOf = ({ headers }: Received) => headers['x-scoring-id'];

/** A run in its middle with calls that are held, the worker that has its batch, and one that has nothing to do. */
async function inTheMiddle(name: string, models: { model?: string; fallback_models?: string[] } = {}) {
  const stage = await stageWithApi(100);
  const [first, second] = await Promise.all([stage.startWorker(), stage.startWorker()]);
  const material = await makeMaterial(stage.call, name, sized(400), models);
  const answered = sized(400) / 5;
  await behave(stage.model, { mode: 'hold', after: answered });
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, answered + CONCURRENCY);
  const pid = await until('a worker has the batch', () => stage.workerOf(run.workflowId));
  return {
    stage,
    material,
    run,
    answerAll: () => behave(stage.model, {}),
    busy: first.pid === pid ? first : second,
    idle: first.pid === pid ? second : first,
  };
}

async function untilTakenOver(stage: Stage, { workflowId }: Run, { pid }: Started): Promise<void> {
  await until('the other worker takes over', async () => (await stage.workerOf(workflowId)) === pid);
}

test.concurrent('a run survives three kills of its only worker', async () => {
  const stage = await stageWithApi(150);
  let worker = await stage.startWorker();
  const material = await makeMaterial(stage.call, 'killed-thrice', 1_000);
  const run = await startRun(stage.call, material, CONCURRENCY);
  for (const called of [200, 450, 700]) {
    await untilCalled(stage.model, material.prompts, called);
    await worker.killTree();
    worker = await stage.startWorker();
  }
  await expectRight(stage, run, material, 3 * CONCURRENCY);
});

test.concurrent('another worker goes on with what a killed one had under way', async () => {
  const { stage, material, run, busy, answerAll } = await inTheMiddle('killed');
  await busy.killTree();
  await answerAll();
  await expectRight(stage, run, material, CONCURRENCY);
});

test.concurrent('a worker that is killed in the middle of fallback chains costs no more than the calls in flight', async () => {
  // There are no credentials for the first: each example has failed with it when the second is called.
  const models = { model: 'google/gemini-2.5-flash', fallback_models: ['openai/gpt-4o-mini'] };
  const { stage, material, run, busy, answerAll } = await inTheMiddle('fallbacks', models);
  await busy.killTree();
  await answerAll();
  await expectRight(stage, run, material, CONCURRENCY);
  const results: { model: string; attempts: number }[] = await resultsOf(stage.call, run.id);
  expect(new Set(results.map(({ model }) => model))).toEqual(new Set(['openai/gpt-4o-mini']));
});

test.concurrent('a worker that is killed in mid-scoring: another repeats the requests to the scorer under their ids, and pays for nothing', async () => {
  const stage = await stageWithApi(0, { WEBHOOK_ALLOW_PRIVATE: 'loopback' });
  const released = Promise.withResolvers<void>();
  const scorer = await startReceiver(async ({ body }, response) => {
    await released.promise;
    response.end(JSON.stringify({ score: body.output === body.expected ? 1 : 0 }));
  });
  cleanUps.push(() => scorer.close());
  const material = await makeMaterial(stage.call, 'scored-outside', sized(60));
  const killed = await stage.startWorker();
  const evaluators = [{ type: 'http', url: scorer.url, timeout_ms: 60_000 }];
  const run = await startRun(stage.call, material, CONCURRENCY, { evaluators });
  const before = (await scorer.got(CONCURRENCY)).map(idOf);
  await killed.killTree();
  await stage.startWorker();
  released.resolve();
  await expectRight(stage, run, material, 0);
  const ids = scorer.received.map(idOf);
  expect(new Set(ids)).toEqual(new Set(material.prompts.map((_, seq) => `${run.id}/${seq}/http`)));
  expect(ids.length).toBe(material.prompts.length + before.length);
  for (const id of before) expect(ids.filter((each) => each === id)).toHaveLength(2);
});

test.concurrent('a worker that is asked to stop loses nothing, and another goes on', async () => {
  const { stage, material, run, busy, answerAll } = await inTheMiddle('stopped');
  busy.kill('SIGTERM');
  await busy.says(/stopping/);
  await answerAll();
  const { code, output } = await busy.ended;
  expect(code).toBe(0);
  expect(output).not.toMatch(/could not stop|unhandled|"level":60/);
  await expectRight(stage, run, material, 0);
});

test.concurrent('a worker that freezes and thaws does not get in the way of the one that has taken over', async () => {
  const { stage, material, run, busy, idle, answerAll } = await inTheMiddle('frozen');
  busy.kill('SIGSTOP');
  await answerAll();
  await untilTakenOver(stage, run, idle);
  busy.kill('SIGCONT');
  await expectRight(stage, run, material, CONCURRENCY);
  for (const worker of [busy, idle]) expect(worker.output()).not.toMatch(/unhandled|"level":60/);
});

test.concurrent('calls in flight while Temporal gave their batch up for dead are waited for, not paid for again', async () => {
  const servers = await startOwnServers();
  cleanUps.push(() => servers.remove());
  const stage = await stageOn(servers, 0, { MODEL_TIMEOUT: '10m' });
  await behave(stage.model, { mode: 'hold' });
  await stage.startWorker();
  const material = await makeMaterial(stage.call, 'lost-sight-of', CONCURRENCY);
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, CONCURRENCY);
  // A heartbeat that comes as soon as Temporal is back may be in time.
  for (let outage = 1, isTakenOver = false; !isTakenOver && outage <= 10; outage += 1) {
    await servers.temporal.stop();
    await delay(HEARTBEAT_TIMEOUT_MS);
    await servers.temporal.start();
    const nextAttempt = async () => (await stage.attemptOf(run.workflowId)) > 1;
    isTakenOver = await until('the next attempt', nextAttempt, 2 * HEARTBEAT_TIMEOUT_MS).catch(() => false);
  }
  expect(await stage.attemptOf(run.workflowId)).toBeGreaterThan(1);
  await behave(stage.model, {});
  await expectRight(stage, run, material, 0);
});
