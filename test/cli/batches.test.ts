import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { killOrphans } from '../support/processes.ts';
import { insertBatch, insertBatchedResult } from '../support/provider-batch-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

// No worker runs: batches are rows, as the run's workflows would have written them.

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, providers: true });
  cli = await startCli(service);
  for (const [name, model] of [
    ['say', 'openai/gpt-4o-mini'],
    ['echo', 'sandbox/echo'],
  ])
    await service.call('POST', '/prompts', { body: { name, template: '{{ x }}', model } });
  await service.call('PUT', '/datasets/numbers', {
    raw: '{"variables": {"x": "1"}}\n{"variables": {"x": "2"}}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterEach(killOrphans);
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

const RUN = ['eval', 'run', '--prompt', 'say', '--dataset', 'numbers'];
const idIn = (text: string) => /eval_[0-9a-f-]+/.exec(text)?.[0] ?? '';
const read = async (id: string) => (await service.call('GET', `/evaluations/${id}`)).body;

test('the options are the mode and the settings of batches', async () => {
  const run = async (...options: string[]) => (await cli.pms([...RUN, ...options])).stdout.trim();
  const batch = await run('--mode', 'batch', '--max-wait', '2h', '--leftovers', 'fail');
  expect(await read(batch)).toMatchObject({ mode: 'batch', batch: { max_wait: '2h', then: 'fail' } });
  expect(await read(await run('--mode', 'auto'))).toMatchObject({ mode: 'auto', batch: { max_wait: '24h' } });
  expect(await read(await run())).toMatchObject({ mode: 'interactive', batch: null, name: null });
  expect(await read(await run('--name', 'Before the holidays'))).toMatchObject({ name: 'Before the holidays' });
});

test.each([
  [['--mode', 'later'], 'Allowed choices are interactive, batch, auto'],
  [['--mode', 'batch', '--leftovers', 'wait'], 'Allowed choices are interactive, fail'],
  [['--mode', 'batch', '--max-wait', 'long'], 'batch.max_wait: must be a duration'],
  [['--max-wait', '2h'], 'batch: requires mode "batch" or "auto"'],
  [['--prompt', 'echo', '--mode', 'batch'], "sandbox/echo can't be called in batches"],
])('%j is refused with status 2, saying why', async (options, message) => {
  const { status, stderr } = await cli.pms([...RUN, ...options]);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('reports on batches while it waits; Ctrl-C ends only the waiting, and it can be attached again', async () => {
  const waiting = cli.start([...RUN, '--mode', 'batch', '--wait']);
  const id = idIn((await waiting.says(/eval_\S+ started/))[0]);
  await insertBatch(service, id, {
    status: 'in_progress',
    counts: { total: 1_000, succeeded: 300, failed: 12 },
    expires_at: '2026-02-01T12:00:00.000Z',
  });
  await waiting.says(
    /batch 1 at openai \(batch_abc\): in_progress, 312 of 1,000 calls, expected by 2026-02-01T12:00:00.000Z/,
  );
  waiting.interrupt();
  const { code, output } = await waiting.ended;
  expect([code, output]).toEqual([
    130,
    expect.stringContaining(`Detached. ${id} is still running; attach again with: pms eval watch ${id}`),
  ]);
  expect(await read(id)).toMatchObject({ status: 'scheduled', error: null });

  const attached = cli.start(['eval', 'watch', id]);
  await attached.says(/batch 1 at openai/);
  await insertBatchedResult(service, id, { seq: 0, costUsd: '0.02', multiplier: '0.5' });
  await service.call('POST', `/evaluations/${id}/cancel`);
  const ended = await attached.ended;
  expect([ended.code, ended.output]).toEqual([3, expect.stringContaining(', saved $0.02 by batches')]);
});
