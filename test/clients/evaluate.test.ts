import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InvalidStateError } from '../../clients/typescript/src/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';
import { watchedClient } from './support.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(path.join(tmpdir(), 'evaluate-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

const data = [
  { id: 'fr', variables: { country: 'France' }, expected: 'Paris' },
  { id: 'jp', variables: { country: 'Japan' }, expected: 'Tokyo' },
  { id: 'de', variables: { country: 'Germany' }, expected: 'Berlin' },
];
const capitals: Record<string, string> = { France: 'Paris', Japan: 'Tokyo', Germany: 'Bonn' };
const task = async ({ country }: Record<string, unknown>) => capitals[String(country)] ?? '';
/** A task that records its calls. */
const noting =
  (into: unknown[]) =>
  ({ n }: Record<string, unknown>) => {
    into.push(n);
    return n;
  };
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `n${n}`, variables: { n }, expected: String(n) }));

test('a function is evaluated over examples, and the run is one of the service', async () => {
  const { pms, requests } = watchedClient(service);
  const options = { name: 'capitals', data, task, metadata: { commit: 'abc' } };
  const first = await pms.evaluate({ ...options, scores: ['exact_match'] });
  expect(first).toMatchObject({ passed: false, comparison: null, verdict: null });
  expect(first.evaluation).toMatchObject({
    status: 'completed',
    target: { type: 'code', name: 'capitals' },
    score: 0.666667,
    examples_evaluated: 3,
    metadata: { commit: 'abc' },
  });
  expect(requests.map(({ path: at }) => at)).not.toContain('/executions');
  capitals['Germany'] = 'Berlin';
  const stored: string[] = [];
  const second = await pms.evaluate({
    ...options,
    scores: ['exact_match'],
    threshold: 1,
    onResult: (_, example) => stored.push(example.example_id),
  });
  expect(second).toMatchObject({
    passed: true,
    comparison: { improvements: { total: 1 } },
    verdict: 'too_few_differences',
  });
  expect(second.evaluation).toMatchObject({ baseline_id: first.evaluation.id, improvements: 1, score: 1 });
  expect(stored.toSorted()).toEqual(['de', 'fr', 'jp']);
  const results = await Array.fromAsync(pms.list('listEvaluationResults', { path: { id: second.evaluation.id } }));
  expect(results).toMatchObject([{ output: 'Paris', model_ms: expect.any(Number) }, { seq: 1 }, { seq: 2 }]);
});

test('over a dataset, with scores of every kind; failures are failed results', async () => {
  const lines = data.map((example) => `${JSON.stringify(example)}\n`).join('');
  await service.call('PUT', '/datasets/capitals', { raw: lines, headers: { 'Content-Type': 'application/jsonl' } });
  const { pms } = watchedClient(service);
  const { evaluation } = await pms.evaluate({
    name: 'every-kind',
    data: { name: 'capitals', version: 1 },
    async task({ country }, { example, signal }) {
      expect(signal.aborted).toBe(false);
      if (example.example_id === 'jp') throw new TypeError('no \0 such \uD800 country');
      return { capital: capitals[String(country)] };
    },
    scores: [
      function known({ capital }: { capital: string | undefined }) {
        return capital !== undefined;
      },
      { name: 'half', weight: 3, score: async () => ({ score: 0.5, reason: 'Half.' }) },
      {
        name: 'picky',
        score: (_, { example_id: id }) => (id === 'de' ? 7 : 1),
      },
      'contains',
    ],
  });
  expect(evaluation).toMatchObject({ dataset: { name: 'capitals', version: 1 }, examples_failed: 2 });
  const { body } = await service.call('GET', `/evaluations/${evaluation.id}/results`);
  expect(body.data).toMatchObject([
    {
      output: '{"capital":"Paris"}',
      score: 0.75,
      scores: { known: { score: 1 }, half: { score: 0.5, reason: 'Half.' }, contains: { score: 1 } },
    },
    { status: 'failed', error: { code: 'task_failed', message: 'TypeError: no \uFFFD such \uFFFD country' } },
    {
      status: 'failed',
      output: '{"capital":"Berlin"}',
      error: {
        code: 'scorer_failed',
        message: expect.stringContaining('picky: RangeError: a score must be from 0 to 1'),
      },
    },
  ]);
});

test('scores without a name, and unknown built-in ones, are refused at once', async () => {
  const { pms, requests } = watchedClient(service);
  const options = { name: 'refused', data, task };
  await expect(pms.evaluate({ ...options, scores: [() => 1] })).rejects.toThrow('a name');
  // @ts-expect-error: there is no such score
  await expect(pms.evaluate({ ...options, scores: ['vibes'] })).rejects.toThrow('no built-in score "vibes"');
  expect(requests).toEqual([]);
});

test('concurrency is limited, and results are grouped while the service is busy', async () => {
  const { pms, requests } = watchedClient(service);
  let running = 0;
  let most = 0;
  const { evaluation } = await pms.evaluate({
    name: 'many',
    data: many(250),
    concurrency: 7,
    async task({ n }) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return n;
    },
    scores: ['exact_match'],
  });
  expect(evaluation).toMatchObject({ score: 1, examples_evaluated: 250 });
  expect(most).toBe(7);
  expect(requests.filter(({ path: at }) => at.endsWith('/results')).length).toBeLessThan(250);
});

test('the signal is aborted after a time limit', async () => {
  const { pms } = watchedClient(service);
  const aborted: number[] = [];
  const { evaluation } = await pms.evaluate({
    name: 'slow',
    data: many(2),
    timeoutMs: 50,
    task: ({ n }, { signal }) => {
      if (n === 0) return '0';
      signal.addEventListener('abort', () => aborted.push(Number(n)));
      return new Promise<string>(() => {});
    },
    scores: ['exact_match'],
  });
  expect(aborted).toEqual([1]);
  expect(evaluation).toMatchObject({ examples_failed: 1, score: 0.5 });
});

test('unstorable results have failed, and others of the batch are stored', async () => {
  const { pms } = watchedClient(service);
  const outputs = ['0', 'x\0y', 'z'.repeat(1_100_000), '3'];
  const { evaluation } = await pms.evaluate({
    name: 'not-storable',
    data: many(4),
    task: ({ n }) => outputs[Number(n)],
    scores: ['exact_match'],
  });
  const { body } = await service.call('GET', `/evaluations/${evaluation.id}/results`);
  expect(
    body.data.map(({ status, error }: { status: string; error: { code: string } }) => error?.code ?? status),
  ).toEqual(['scored', 'result_refused', 'result_refused', 'scored']);
});

test('lost responses and outages: each example is stored once', async () => {
  const client = watchedClient(service, { retryForMs: 60_000 });
  const lost = new Set<string>();
  let failures = 0;
  client.fail = ({ path: at, method }) => {
    const key = `${method} ${at}`;
    if (lost.has(key) || failures > 4) return false;
    lost.add(key);
    failures += 1;
    return true;
  };
  const worked: unknown[] = [];
  const { evaluation } = await client.pms.evaluate({
    name: 'outage',
    data: many(20),
    task: noting(worked),
    scores: ['exact_match'],
  });
  expect(failures).toBeGreaterThan(3);
  expect(worked).toHaveLength(20);
  expect(evaluation).toMatchObject({ score: 1, examples_evaluated: 20 });
  expect((await service.call('GET', '/evaluations?prompt_name=outage')).body.data).toHaveLength(1);
});

test('canceling a run ends the program’s part; its id continues it', async () => {
  const { pms } = watchedClient(service);
  const options = { name: 'canceled', data: many(30), concurrency: 1, scores: ['exact_match' as const] };
  let id = '';
  const ended = pms.evaluate({
    ...options,
    async task({ n }) {
      const { body } = await service.call('GET', '/evaluations?prompt_name=canceled');
      id = body.data[0].id;
      if (n === 5) await service.call('POST', `/evaluations/${id}/cancel`);
      return n === 3 ? 'wrong' : n;
    },
  });
  await expect(ended).rejects.toBeInstanceOf(InvalidStateError);
  const { body: before } = await service.call('GET', `/evaluations/${id}/results`);
  const stored = before.data.map(({ seq }: { seq: number }) => seq);
  expect(stored).toContain(0);
  const worked: unknown[] = [];
  const again = { ...options, resume: id, task: noting(worked) };
  await expect(pms.evaluate({ ...again, scores: ['contains'] })).rejects.toThrow('it has the scores exact_match');
  const { evaluation } = await pms.evaluate(again);
  expect(evaluation).toMatchObject({ id, status: 'completed', examples_evaluated: 30 });
  expect(worked).toEqual(many(30).flatMap(({ variables: { n } }) => (stored.includes(n) ? [] : [n])));
  // It has completed, and nothing has failed: nothing is run again.
  expect((await pms.evaluate(again)).evaluation.id).toBe(id);
  expect(worked).toHaveLength(30 - stored.length);
});

test('a signal ends the program’s part, and resume does the rest', async () => {
  const { pms } = watchedClient(service);
  const stop = new AbortController();
  const worked: unknown[] = [];
  const options = { name: 'stopped', data: many(12), concurrency: 2, scores: ['exact_match' as const], resume: true };
  const first = pms.evaluate({
    ...options,
    signal: stop.signal,
    task: ({ n }, { signal }) => {
      if (Number(n) < 6) return n;
      stop.abort(new Error('enough'));
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  await expect(first).rejects.toThrow('enough');
  const { evaluation } = await pms.evaluate({ ...options, task: noting(worked) });
  expect(evaluation).toMatchObject({ score: 1, examples_failed: 0 });
  // Work completed when the signal came is kept.
  expect(worked).toEqual([6, 7, 8, 9, 10, 11]);
});

test('a killed and restarted program repeats only the examples in progress', async () => {
  const log = path.join(folder, 'log');
  const script = path.join(folder, 'program.ts');
  const client = fileURLToPath(new URL('../../clients/typescript/src/index.ts', import.meta.url));
  await writeFile(log, '');
  await writeFile(
    script,
    `import { appendFileSync } from 'node:fs';
     import { setTimeout as sleep } from 'node:timers/promises';
     import { Pms } from ${JSON.stringify(client)};
     const pms = new Pms({ baseUrl: ${JSON.stringify(service.origin)}, apiKey: ${JSON.stringify(service.key)} });
     const { evaluation } = await pms.evaluate({
       name: 'killed', resume: true, concurrency: 3,
       data: Array.from({ length: 60 }, (_, n) => ({ id: String(n), variables: { n }, expected: n })),
       async task({ n }) {
         appendFileSync(${JSON.stringify(log)}, n + '\\n');
         await sleep(150);
         return n;
       },
       scores: ['exact_match'],
     });
     console.log(evaluation.id, evaluation.score);`,
  );
  const start = () => spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stored = async () => {
    const { body } = await service.call('GET', '/evaluations?prompt_name=killed');
    return body.data[0]?.examples_evaluated ?? 0;
  };
  const begun = async () => (await readFile(log, 'utf8')).trim().split('\n');
  // Started but not stored: in progress, or completed and on its way to the service, which can take longer.
  let lost = 0;
  let kept = 0;
  for (const least of [10, 30]) {
    const program = start();
    await until('results', async () => (await stored()) >= least);
    program.kill('SIGKILL');
    await once(program, 'exit');
    kept = await stored();
    expect(kept).toBeLessThan(60);
    lost += new Set(await begun()).size - kept;
  }
  const last = start();
  const printed = (async () => (await Array.fromAsync(last.stdout.setEncoding('utf8'))).join(''))();
  await once(last, 'exit');
  const { body: list } = await service.call('GET', '/evaluations?prompt_name=killed');
  expect(list.data).toHaveLength(1);
  expect(await printed).toBe(`${list.data[0].id} 1\n`);
  const { body: results } = await service.call('GET', `/evaluations/${list.data[0].id}/results`);
  expect(results.data.map(({ seq }: { seq: number }) => seq)).toEqual(Array.from({ length: 60 }, (_, seq) => seq));
  // From each killed process, at most what was in progress, or on its way to the service.
  const all = await begun();
  expect(new Set(all).size).toBe(60);
  expect(all.length).toBeLessThanOrEqual(60 + lost);
});
