import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { setStage } from '../support/fault-stage.ts';
import type { Call } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

const ITEMS = AT_FULL_SIZE ? 50_000 : 1_500;
/** The baseline of a working worker: its code, scoring threads, connections, and uncollected garbage. */
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

/** A run of examples of {@link ITEM_BYTES}, from its creation to its end. */
async function runExamples(
  call: Call,
  name: string,
  items: number,
  mode: 'interactive' | 'batch',
  onSettled: () => void = () => {},
) {
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
      // Each poll sums up everything, which takes time.
      await delay(1_000);
      const { body } = await call('GET', `/evaluations/${begun.body.id}`);
      if (body.batches?.length > 0 && body.batches.every((batch: { status: string }) => batch.status === 'completed'))
        onSettled();
      return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
    },
    PATIENCE_MS,
  );
}

test(`a worker's memory does not grow with a batch: ${ITEMS} calls of 4 KiB add less than ${MOST_MORE_MIB} MiB`, async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  // As `npm run worker` and the image start it.
  const nodeFlags = () => ['--max-semi-space-size=32', '--heap-growing-percent=80'];
  const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 0, nodeFlags });
  cleanUps.push(() => stage.end());
  await stage.startApi();
  const { pid } = await stage.startWorker();
  const { call } = stage;

  for (const mode of ['interactive', 'batch'] as const) {
    const run = await runExamples(call, `warm-up-${mode}`, WARM_UP_ITEMS, mode);
    expect(run).toMatchObject({ status: 'completed', examples_failed: 0 });
  }
  const before = memoryMiB(pid, 'VmHWM');
  // Resets the peak for what follows.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const begun = Date.now();
  let settled = 0;
  const run = await runExamples(call, 'large', ITEMS, 'batch', () => {
    settled ||= memoryMiB(pid, 'VmHWM');
  });
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: ITEMS, examples_failed: 0 });
  tell(
    `${ITEMS} calls in ${run.batches.length} batches, ${Math.round((Date.now() - begun) / 1_000)} s: at most ${settled} MiB of memory until ` +
      `all results were stored, ${memoryMiB(pid, 'VmHWM')} MiB until they were scored; ${before} MiB after two runs of ${WARM_UP_ITEMS}`,
  );
  // The scoring threads and uncollected garbage have their own bounds, and are the same in an interactive run.
  expect(settled).toBeGreaterThan(0);
  expect(settled - before).toBeLessThan(MOST_MORE_MIB);
});
