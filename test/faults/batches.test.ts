import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createTestDatabase } from '../support/database.ts';
import {
  AT_FULL_SIZE,
  endedRun,
  type Material,
  makeMaterial,
  type Run,
  resultsOf,
  startRun,
  tell,
} from '../support/fault-runs.ts';
import { callsOf, type Stage, setStage } from '../support/fault-stage.ts';
import { until } from '../support/wait-for.ts';

/** Spread over the phases of a batch: file, submission, wait, download, results and scores. */
const KILLS = AT_FULL_SIZE ? 60 : 6;
const EXAMPLES = AT_FULL_SIZE ? 300 : 200;
/** Time from the start of a worker until it is killed: a little later each time. */
const LEAST_MS = 300;
const SPAN_MS = 6_000;
const AT_ONCE = 3;

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

const Seen = z.object({
  created: z.number(),
  batches: z.array(z.object({ id: z.string(), tag: z.string().nullable(), status: z.string(), items: z.number() })),
  files: z.array(z.object({ name: z.string() })),
});

async function batchesAt({ model }: Stage) {
  return Seen.parse(await (await fetch(new URL('/__batches', model.baseUrl))).json());
}

/** A correct run: each example once, none called individually, none paid for twice. */
async function expectRight({ call, model }: Stage, { id }: Run, { prompts }: Material): Promise<void> {
  const run = await endedRun(call, id);
  const results: { output: string; status: string }[] = await resultsOf(call, id);
  expect(results.filter(({ status }) => status !== 'scored')).toEqual([]);
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: prompts.length, examples_failed: 0 });
  expect(results.map(({ output }) => output)).toEqual(prompts.map((prompt) => `Answer to: ${prompt}`));
  expect(run.batches).toMatchObject([{ status: 'completed', items: prompts.length }]);
  const calls = await callsOf(model, prompts);
  expect(calls.reduce((sum, count) => sum + count, 0)).toBe(0);
  const tokensOf = (texts: string[]) => texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  expect(run.tokens.input).toBe(tokensOf(prompts));
  expect(run.tokens.output).toBe(tokensOf(results.map(({ output }) => output)));
}

test('workers are killed at any moment of a batch: none is submitted twice or lost, and no result is stored twice', async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0 });
  cleanUps.push(() => stage.end());
  await stage.startApi();
  await fetch(new URL('/__batches', stage.model.baseUrl), {
    method: 'POST',
    body: JSON.stringify({ completeMs: 1_500, pieceBytes: 4_096 }),
  });

  const runs: { run: Run; material: Material }[] = [];
  let kills = 0;
  for (; kills < KILLS; kills += 1) {
    // There is always something on its way.
    if (runs.length < 2 || kills % 4 === 0) {
      for (let each = 0; each < AT_ONCE; each += 1) {
        const material = await makeMaterial(stage.call, `killed-${runs.length}`, EXAMPLES);
        runs.push({ material, run: await startRun(stage.call, material, 10, { mode: 'batch' }) });
      }
    }
    const worker = await stage.startWorker();
    await delay(LEAST_MS + (SPAN_MS * kills) / KILLS);
    await worker.killTree();
  }
  await stage.startWorker();
  for (const { run, material } of runs) await expectRight(stage, run, material);

  const seen = await batchesAt(stage);
  tell(`${kills} kills, ${runs.length} runs: ${seen.created} batches`);
  expect(seen.created).toBe(runs.length);
  expect(new Set(seen.batches.map(({ tag }) => tag)).size).toBe(runs.length);
  expect(seen.batches.filter(({ status }) => status !== 'completed')).toEqual([]);
  await until('no file to be left at the provider', async () => (await batchesAt(stage)).files.length === 0);
});
