import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { endedRun, makeMaterial, resultsOf, startRun } from '../support/fault-runs.ts';
import { behave, callsOf, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { endedExecution, makePrompt, runAsync } from '../support/processes-service.ts';
import { until } from '../support/wait-for.ts';

/** An execution is isolated after two crashes, and has failed after the third. */
const ENDS = 3;
/**
 * An example fails after the fourth crash: one crash during isolation may be chance, because many are isolated one after the
 * other.
 */
const ENDS_OF_EXAMPLE = 4;

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function stageWithWorker(): Promise<{ stage: Stage; worker: Started }> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 100 });
  cleanUps.push(() => stage.end());
  const [worker] = await Promise.all([stage.startWorker(), stage.startApi()]);
  return { stage, worker };
}

/** Kills each worker that sends this prompt, and starts the next. @returns the surviving one */
async function killWhoeverSends(prompt: string, { stage, worker }: { stage: Stage; worker: Started }) {
  let left = worker;
  for (let end = 1; end <= ENDS_OF_EXAMPLE; end += 1) {
    await until(`call ${end} of the poison`, async () => (await callsOf(stage.model, [prompt]))[0] === end, 240_000);
    await left.killTree();
    left = await stage.startWorker();
  }
  return left;
}

// They mostly wait for dead workers to be detected, so they run concurrently, each on its own stage.

test.concurrent('an example that crashes every process is isolated and fails, and all others complete', async () => {
  const { stage, worker } = await stageWithWorker();
  const material = await makeMaterial(stage.call, 'mostly-harmless', 20);
  const [poisoned, prompt = ''] = [3, material.prompts[3]];
  // Only this prompt is held: other calls in flight are answered.
  await behave(stage.model, { mode: 'hold', matching: prompt });
  const run = await startRun(stage.call, material, 5);
  const left = await killWhoeverSends(prompt, { stage, worker });
  expect(await endedRun(stage.call, run.id)).toMatchObject({ status: 'completed' });
  const results = await resultsOf(stage.call, run.id);
  expect(results).toHaveLength(20);
  expect(results[poisoned]).toMatchObject({ status: 'failed', error: { code: 'process_ended' } });
  expect(results.filter(({ status }: { status: string }) => status === 'failed')).toHaveLength(1);
  expect(await callsOf(stage.model, [prompt])).toEqual([ENDS_OF_EXAMPLE]);
  expect(left.output()).not.toContain('stopping');
});

test.concurrent('an execution that crashes every process is isolated and fails, and those in flight complete', async () => {
  const { stage, worker } = await stageWithWorker();
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
  await behave(stage.model, { mode: 'hold', matching: 'Greet' });
  const others = await Promise.all(['Ada', 'Grace', 'Joan'].map((name) => runAsync(stage.call, 'greet', name)));
  const poison = await runAsync(stage.call, 'greet', 'poison');
  // All of them are in flight when the first two processes end.
  const all = ['Greet Ada.', 'Greet Grace.', 'Greet Joan.', 'Greet poison.'];
  let left = worker;
  for (const end of [1, 2]) {
    await until(`calls ${end}`, async () => (await callsOf(stage.model, all)).every((calls) => calls === end), 240_000);
    await left.killTree();
    left = await stage.startWorker();
    if (end === 1) continue;
    await behave(stage.model, { mode: 'hold', matching: 'poison' });
  }
  await until('the poison is sent again', async () => (await callsOf(stage.model, all))[3] === ENDS, 240_000);
  await left.killTree();
  left = await stage.startWorker();
  expect(await endedExecution(stage.call, poison)).toMatchObject({
    status: 'failed',
    attempts: ENDS,
    error: { code: 'process_ended', message: expect.stringContaining('in isolation') },
  });
  for (const id of others) expect(await endedExecution(stage.call, id)).toMatchObject({ status: 'completed' });
  expect((await callsOf(stage.model, all))[3]).toBe(ENDS);
  // Later work finds a healthy worker.
  expect(await endedExecution(stage.call, await runAsync(stage.call, 'greet', 'Mary'))).toMatchObject({
    status: 'completed',
  });
});
