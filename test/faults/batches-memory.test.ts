import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { setStage } from '../support/fault-stage.ts';
import type { Call } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

const ITEMS = AT_FULL_SIZE ? 50_000 : 1_500;
/** What a worker at work takes anyway: its code, the threads that score, connections, and garbage that is not collected yet. */
const WARM_UP_ITEMS = AT_FULL_SIZE ? 2_000 : 500;
const ITEM_BYTES = 4 * 1024;
const MOST_MORE_MIB = 150;
const PATIENCE_MS = AT_FULL_SIZE ? 28 * 60_000 : 180_000;

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

const memoryMiB = (pid: number, field: 'VmHWM' | 'VmRSS'): number =>
  Math.round(
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024,
  );

/** A run over so many examples of {@link ITEM_BYTES}, from its creation to its end. */
async function runExamples(call: Call, name: string, items: number, mode: 'interactive' | 'batch') {
  const prompt = await call('POST', '/prompts', {
    body: { name, template: '{{ text }}', model: 'openai/gpt-4o-mini' },
  });
  expect(prompt.status).toBe(201);
  const lines = Array.from({ length: items }, (_, seq) => {
    const text = `${name} ${seq} `.padEnd(ITEM_BYTES, `words of ${seq} `);
    return `${JSON.stringify({ variables: { text } })}\n`;
  });
  const headers = { 'Content-Type': 'application/jsonl' };
  const upload = await call('PUT', `/datasets/${name}`, { raw: lines.join(''), headers });
  expect(upload).toMatchObject({ status: 200, body: { examples_total: items } });
  const evaluators = [{ type: 'contains', value: 'words' }];
  const begun = await call('POST', '/evaluations', {
    body: { prompt_name: name, dataset: name, mode, threshold: 0.7, evaluators },
  });
  expect(begun).toMatchObject({ status: 201 });
  return until(
    `the end of ${name}`,
    async () => {
      const { body } = await call('GET', `/evaluations/${begun.body.id}`);
      return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
    },
    PATIENCE_MS,
  );
}

test(`a worker's memory does not grow with a batch: ${ITEMS} calls of 4 KiB add less than ${MOST_MORE_MIB} MiB`, async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0 });
  cleanUps.push(() => stage.end());
  await stage.startApi();
  const { pid } = await stage.startWorker();
  const { call } = stage;

  for (const mode of ['interactive', 'batch'] as const) {
    const run = await runExamples(call, `warm-up-${mode}`, WARM_UP_ITEMS, mode);
    expect(run).toMatchObject({ status: 'completed', examples_failed: 0 });
  }
  const before = memoryMiB(pid, 'VmHWM');
  // From now on the peak is that of what follows.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const begun = Date.now();
  const run = await runExamples(call, 'large', ITEMS, 'batch');
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: ITEMS, examples_failed: 0 });
  const after = memoryMiB(pid, 'VmHWM');
  tell(
    `${ITEMS} calls in ${run.batches.length} batches, ${Math.round((Date.now() - begun) / 1_000)} s: ` +
      `at most ${after} MiB of memory, ${before} MiB after two runs of ${WARM_UP_ITEMS}, ${memoryMiB(pid, 'VmRSS')} MiB now`,
  );
  expect(after - before).toBeLessThan(MOST_MORE_MIB);
});
