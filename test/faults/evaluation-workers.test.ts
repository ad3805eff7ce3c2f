import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import {
  endedRun,
  expectRight,
  type Material,
  makeMaterial,
  resultsOf,
  sized,
  startRun,
} from '../support/fault-runs.ts';
import { behave, callsOf, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

const CONCURRENCY = 10;
/** Large enough that runs are in the middle of their first batch, with all their calls in flight, whenever calls are held. */
const EXAMPLES = sized(160);
/** Before calls are held, by all runs together. */
const ANSWERED = EXAMPLES / 8;

// They mostly wait for missed heartbeats, so they run concurrently, each on its own stage.
const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function stageWithWorker(): Promise<{ stage: Stage; worker: Started }> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const env = { WEBHOOK_ALLOW_PRIVATE: 'loopback' };
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 100, env });
  cleanUps.push(() => stage.end());
  const [worker] = await Promise.all([stage.startWorker(), stage.startApi()]);
  return { stage, worker };
}

const idOf = ({ headers }: Received) => headers['x-scoring-id'];
const answerAll = ({ model }: Stage) => behave(model, {});

/** From now on the model answers this many calls, and holds later ones. */
const holdAfter = ({ model }: Stage, answered: number) =>
  behave(model, { mode: 'hold', after: answered, matching: 'held-' });

/** Waits until the model's server has received this many calls for this material, including repeated ones. */
async function untilSent({ model }: Stage, materials: readonly Material[], count: number): Promise<void> {
  const prompts = materials.flatMap((material) => material.prompts);
  await until(`${count} calls at the model's server`, async () => {
    const calls = await callsOf(model, prompts);
    return calls.reduce((sum, each) => sum + each, 0) >= count;
  });
}

/** A run halfway through, with held calls, and the process that runs its batch. */
async function inTheMiddle(stage: Stage, name: string) {
  const material = await makeMaterial(stage.call, name, EXAMPLES);
  await holdAfter(stage, ANSWERED);
  const run = await startRun(stage.call, material, CONCURRENCY);
  await untilSent(stage, [material], ANSWERED + CONCURRENCY);
  return { material, run, pid: await until('a worker has the batch', () => stage.workerOf(run.workflowId)) };
}

test.concurrent('runs survive the kill of their only worker and of the next one, in mid-call, in fallback chains and in mid-scoring: it costs only the calls in flight, and another repeats the requests to a scorer under their ids', async () => {
  const { stage, worker } = await stageWithWorker();
  const released = Promise.withResolvers<void>();
  const scorer = await startReceiver(async ({ body }, response) => {
    await released.promise;
    response.end(JSON.stringify({ score: body.output === body.expected ? 1 : 0 }));
  });
  cleanUps.push(() => scorer.close());
  const scored = await makeMaterial(stage.call, 'scored-outside', sized(60));
  const evaluators = [{ type: 'http', url: scorer.url, timeout_ms: 60_000 }];
  const scoredRun = await startRun(stage.call, scored, CONCURRENCY, { evaluators });
  const before = (await scorer.got(CONCURRENCY)).map(idOf);

  // The first has no credentials: each example has failed with it when the second is called.
  const models = { model: 'google/gemini-2.5-flash', fallback_models: ['openai/gpt-4o-mini'] };
  const materials = await Promise.all([
    makeMaterial(stage.call, 'held-killed', EXAMPLES),
    makeMaterial(stage.call, 'held-fallbacks', EXAMPLES, models),
  ]);
  await holdAfter(stage, ANSWERED);
  const runs = await Promise.all(materials.map((material) => startRun(stage.call, material, CONCURRENCY)));
  const inFlight = CONCURRENCY * runs.length;
  await untilSent(stage, materials, ANSWERED + inFlight);
  await worker.killTree();
  released.resolve();
  const second = await stage.startWorker();

  await untilSent(stage, materials, ANSWERED + 2 * inFlight);
  await Promise.all([stage.startWorker(), expectRight(stage, scoredRun, scored, 0)]);
  const ids = scorer.received.map(idOf);
  expect(new Set(ids)).toEqual(new Set(scored.prompts.map((_, seq) => `${scoredRun.id}/${seq}/http`)));
  expect(ids.length).toBe(scored.prompts.length + before.length);
  for (const id of before) expect(ids.filter((each) => each === id)).toHaveLength(2);

  // Those in flight are answered, and others are held.
  await holdAfter(stage, ANSWERED);
  await untilSent(stage, materials, 2 * ANSWERED + 3 * inFlight);
  for (const { workflowId } of runs) expect(await stage.workerOf(workflowId)).toBe(second.pid);
  await second.killTree();
  await answerAll(stage);
  await Promise.all(
    materials.map(async (material, index) => {
      const run = runs[index];
      if (run !== undefined) await expectRight(stage, run, material, 2 * CONCURRENCY);
    }),
  );
  const results: { model: string; attempts: number }[] = await resultsOf(stage.call, runs[1]?.id ?? '');
  expect(new Set(results.map(({ model }) => model))).toEqual(new Set(['openai/gpt-4o-mini']));
});

test.concurrent('another version over recorded executions survives the kill of the worker that scores their outputs, and of the one that calls the model', async () => {
  const { stage, worker } = await stageWithWorker();
  const { call, model } = stage;
  const name = 'held-replayed';
  const body = { name, messages: [{ role: 'system', content: 'Answer.' }], model: 'openai/gpt-4o-mini' };
  expect((await call('POST', '/prompts', { body })).status).toBe(201);
  const times = { started_at: new Date(Date.now() - 2_000), finished_at: new Date(Date.now() - 1_000) };
  const questions = Array.from({ length: EXAMPLES }, (_, at) => `${name} ${at}.`);
  const records = questions.map((input) => ({ ...times, prompt_name: name, model: body.model, input, output: 'old' }));
  expect((await call('POST', '/executions/record', { body: { records } })).status).toBe(201);
  const released = Promise.withResolvers<void>();
  const scorer = await startReceiver(async ({ body: asked }, response) => {
    await released.promise;
    response.end(JSON.stringify({ score: asked.output === 'old' ? 0 : 1 }));
  });
  cleanUps.push(() => scorer.close());
  await holdAfter(stage, ANSWERED);
  const evaluation = await call('POST', '/evaluations', {
    body: {
      prompt_name: name,
      executions: { limit: EXAMPLES },
      evaluators: [{ type: 'http', url: scorer.url, timeout_ms: 60_000 }],
      concurrency: CONCURRENCY,
    },
  });
  expect(evaluation.status).toBe(201);
  await scorer.got(CONCURRENCY);
  await worker.killTree();
  released.resolve();
  const second = await stage.startWorker();
  await untilSent(stage, [{ name, prompts: questions }], ANSWERED + CONCURRENCY);
  expect(await endedRun(call, evaluation.body.baseline_id)).toMatchObject({
    status: 'completed',
    examples_failed: 0,
    score: 0,
  });
  await second.killTree();
  await Promise.all([answerAll(stage), stage.startWorker()]);
  expect(await endedRun(call, evaluation.body.id)).toMatchObject({
    status: 'completed',
    examples_evaluated: EXAMPLES,
    examples_failed: 0,
    improvements: EXAMPLES,
    regressions: 0,
  });
  const calls = await callsOf(model, questions);
  expect(calls.every((count) => count >= 1)).toBe(true);
  expect(calls.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(EXAMPLES + CONCURRENCY);
});

test.concurrent('a worker that freezes and thaws does not disturb its successor, and one that is asked to stop loses nothing', async () => {
  const { stage, worker } = await stageWithWorker();
  const frozen = await inTheMiddle(stage, 'held-frozen');
  const other = await stage.startWorker();
  const workers = [worker, other];
  expect(frozen.pid).toBe(worker.pid);
  worker.kill('SIGSTOP');
  await answerAll(stage);
  await until('the other worker takes over', async () => (await stage.workerOf(frozen.run.workflowId)) === other.pid);
  worker.kill('SIGCONT');
  await expectRight(stage, frozen.run, frozen.material, CONCURRENCY);

  const stopped = await inTheMiddle(stage, 'held-stopped');
  const busy = workers.find(({ pid }) => pid === stopped.pid);
  busy?.kill('SIGTERM');
  await busy?.says(/stopping/);
  await answerAll(stage);
  expect(await busy?.ended).toMatchObject({ code: 0 });
  await expectRight(stage, stopped.run, stopped.material, 0);
  for (const each of workers) expect(each.output()).not.toMatch(/could not stop|unhandled|"level":60/);
});
