import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, endedRun, expectRight, makeMaterial, resultsOf, startRun, tell } from '../support/fault-runs.ts';
import { behave, callsOf, type Stage, setStage, untilCalled } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { endedExecution, makePrompt, runAsync } from '../support/processes-service.ts';
import { startReceiver } from '../support/receiver.ts';
import { createTurns } from '../support/turns.ts';
import { until } from '../support/wait-for.ts';

/**
 * Longer than the ten seconds that are a usual grace, and at full size than the five that a batch gets beyond it; far less than
 * the default of `SHUTDOWN_GRACE`.
 */
const LONG_CALL_MS = AT_FULL_SIZE ? 17_000 : 12_000;
const CONCURRENCY = 5;
const ANSWERED = 5;

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function stageOf(env: Record<string, string> = {}): Promise<Stage> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0, env });
  cleanUps.push(() => stage.end());
  return stage;
}

/**
 * A worker with a run whose first examples are answered and whose calls in flight are at the limit, and with an execution whose
 * call is in flight. The model holds them all.
 */
async function callsUnderWay(name: string, env: Record<string, string> = {}) {
  const stage = await stageOf(env);
  const [worker] = await Promise.all([stage.startWorker(), stage.startApi()]);
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
  const material = await makeMaterial(stage.call, name, 40);
  await behave(stage.model, { mode: 'hold', after: ANSWERED });
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilCalled(stage.model, material.prompts, ANSWERED + CONCURRENCY);
  const id = await runAsync(stage.call, 'greet', 'Ada');
  await untilCalled(stage.model, ['Greet Ada.'], 1);
  return { stage, worker, material, run, id };
}

async function askToStop(worker: Started): Promise<void> {
  worker.kill('SIGTERM');
  await worker.says(/stopping/);
}

async function expectGoodEnd(worker: Started): Promise<void> {
  const { code, output } = await worker.ended;
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/"msg":"stopped"/) });
  expect(output).not.toMatch(/could not stop|unhandled|"level":[56]0/);
}

const isOver = (worker: Started) => Promise.race([worker.ended.then(() => true), delay(0, false)]);

// These mostly wait for calls, so they run concurrently, each on its own stage.

test.concurrent('a worker asked to stop waits for long calls, stores their answers and begins no other, and the next one pays only for the rest', async () => {
  const { stage, worker, material, run, id } = await callsUnderWay('long-calls');
  await askToStop(worker);
  const next = await runAsync(stage.call, 'greet', 'Grace');
  await delay(LONG_CALL_MS);
  expect(await isOver(worker)).toBe(false);
  await behave(stage.model, {});
  await expectGoodEnd(worker);
  expect(await endedExecution(stage.call, id)).toMatchObject({ status: 'completed', attempts: 1 });
  expect((await stage.call('GET', `/executions/${next}`)).body).toMatchObject({ status: 'queued', attempts: 0 });
  const calls = await callsOf(stage.model, material.prompts);
  expect(calls.filter((count) => count > 0)).toHaveLength(ANSWERED + CONCURRENCY);
  expect(await resultsOf(stage.call, run.id)).toHaveLength(ANSWERED + CONCURRENCY);
  await stage.startWorker();
  expect(await endedExecution(stage.call, next)).toMatchObject({ status: 'completed', attempts: 1 });
  expect(await callsOf(stage.model, ['Greet Ada.', 'Greet Grace.'])).toEqual([1, 1]);
  await expectRight(stage, run, material, 0);
});

test.concurrent('calls and deliveries longer than SHUTDOWN_GRACE are given up, and calls repeated by the next worker', async () => {
  const { stage, worker, material, run, id } = await callsUnderWay('short-grace', {
    SHUTDOWN_GRACE: '1s',
    WEBHOOK_TIMEOUT: '5m',
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
  });
  const receiver = await startReceiver(() => {});
  cleanUps.push(() => receiver.close());
  const webhook = await stage.call('POST', '/webhooks', { body: { url: receiver.url, events: ['prompt.created'] } });
  await makePrompt(stage.call, 'told', 'openai/gpt-4o-mini');
  await receiver.got(1);
  // The calls, and the request to the receiver, are held until after its end.
  await askToStop(worker);
  await expectGoodEnd(worker);
  const { body: deliveries } = await stage.call('GET', `/webhooks/${webhook.body.id}/deliveries`);
  expect(deliveries.data).toMatchObject([{ status: 'queued', attempts_made: 0 }]);
  await behave(stage.model, {});
  await stage.startWorker();
  const stopped = { error: { message: expect.stringContaining('was stopped before this call ended') } };
  expect(await endedExecution(stage.call, id)).toMatchObject({
    status: 'completed',
    attempts: 2,
    // It is not isolated for that, however often it happens.
    calls: [stopped, { error: null }],
  });
  expect(await callsOf(stage.model, ['Greet Ada.'])).toEqual([2]);
  await expectRight(stage, run, material, CONCURRENCY);
});

test.concurrent('a caller that waits for a long call gets its answer from a stopping service', async () => {
  const stage = await stageOf();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'pms-stopped-'));
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
  const both = await stage.startBoth(dataDir);
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
  await behave(stage.model, { mode: 'hold' });
  const answered = stage.call('POST', '/executions', { body: { prompt_name: 'greet', variables: { name: 'Ada' } } });
  await untilCalled(stage.model, ['Greet Ada.'], 1);
  await askToStop(both);
  await delay(LONG_CALL_MS);
  expect(await isOver(both)).toBe(false);
  await behave(stage.model, {});
  expect(await answered).toMatchObject({ status: 201, body: { status: 'completed', attempts: 1 } });
  await expectGoodEnd(both);
  await until('no further call', async () => (await callsOf(stage.model, ['Greet Ada.']))[0] === 1);
});

// These share one.
const inTurn = createTurns();
let stage: Stage;
let api: Started;
let nextWorker: Started;

test.concurrent('answers after the stop signal are not sent to judges', () =>
  inTurn(async () => {
    stage = await stageOf({ SHUTDOWN_GRACE: '1h' });
    const [worker, startedApi] = await Promise.all([stage.startWorker(), stage.startApi()]);
    api = startedApi;
    await behave(stage.model, { mode: 'hold' });
    const material = await makeMaterial(stage.call, 'judged', CONCURRENCY);
    const evaluators = [{ type: 'llm_judge', name: 'judge', model: 'openai/gpt-4o-mini', rubric: 'Is it polite?' }];
    const { status, body } = await stage.call('POST', '/evaluations', {
      body: { prompt_name: material.name, dataset: material.name, concurrency: CONCURRENCY, evaluators },
    });
    expect({ status, body }).toMatchObject({ status: 201 });
    await untilCalled(stage.model, material.prompts, CONCURRENCY);
    await askToStop(worker);
    await behave(stage.model, {});
    await expectGoodEnd(worker);
    expect(await stage.model.calls()).toBe(CONCURRENCY);
    nextWorker = await stage.startWorker();
    expect(await endedRun(stage.call, body.id)).toMatchObject({ status: 'completed', examples_failed: 0 });
    expect(await callsOf(stage.model, material.prompts)).toEqual(material.prompts.map(() => 1));
    expect(await stage.model.calls()).toBeGreaterThan(CONCURRENCY);
  }));

test.concurrent('idle processes end long before the grace is over', () =>
  inTurn(async () => {
    await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
    expect(await endedExecution(stage.call, await runAsync(stage.call, 'greet'))).toMatchObject({
      status: 'completed',
    });
    for (const started of [nextWorker, api]) {
      const askedAt = Date.now();
      await askToStop(started);
      // The test would time out long before the grace period is over.
      await expectGoodEnd(started);
      tell(`idle: ended after ${((Date.now() - askedAt) / 1_000).toFixed(1)} s`);
    }
  }));
