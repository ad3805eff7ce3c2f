import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const attempt = (body: object) => service.call('POST', '/evaluators/try', { body });

const RUBRIC = { type: 'llm_judge', model: 'sandbox/judge', rubric: 'Is it the expected text?' };

test('one output is scored by its texts, with the weighted mean', async () => {
  const { status, body } = await attempt({
    evaluators: [
      { type: 'exact_match', weight: 3 },
      { type: 'contains', name: 'names', values: ['Ada'] },
      { type: 'latency', at_most_ms: 100, weight: 1 },
      { type: 'cost', at_most_usd: 0.01, weight: 1 },
    ],
    output: 'Hello Ada',
    expected: 'Hello Grace',
    model_ms: 250,
    cost: '0.001',
  });
  expect([status, body]).toEqual([
    200,
    {
      score: 0.333333,
      scores: [
        expect.objectContaining({ name: 'exact_match', score: 0, problem: null, cost: null, execution_id: null }),
        expect.objectContaining({ name: 'names', type: 'contains', score: 1, reason: null }),
        expect.objectContaining({ name: 'latency', score: 0, reason: expect.stringContaining('250 ms') }),
        expect.objectContaining({ name: 'cost', score: 1 }),
      ],
    },
  ]);
});

test('a judge is called by an execution, which is listed with its cost', async () => {
  const { body } = await attempt({
    evaluators: [RUBRIC],
    input: [{ role: 'user', content: 'Say {{ hello }}' }],
    output: 'Hello',
    expected: 'Hello',
  });
  const [{ execution_id: id, cost, ...score }] = body.scores;
  expect(score).toMatchObject({ score: 1, problem: null, reason: 'The output equals the expected text.' });
  expect(cost).toEqual({ amount: '0', currency: 'USD' });
  const { body: execution } = await service.call('GET', `/executions/${id}`);
  expect(execution).toMatchObject({
    status: 'completed',
    model: 'sandbox/judge',
    prompt_name: null,
    metadata: { source: 'evaluator', evaluator: 'llm_judge' },
    input: expect.stringContaining('Say {{ hello }}'),
  });
  expect(execution.calls).toHaveLength(1);
});

test('a judge of categories gives a category and a value', async () => {
  const categories = [
    { value: 'the same', score: 1 },
    { value: 'another', score: 0.25 },
  ];
  const attempted = await attempt({ evaluators: [{ ...RUBRIC, categories }], output: 'Hello', expected: 'Bye' });
  expect(attempted.body).toMatchObject({ score: 0.25, scores: [{ score: 0.25, category: 'another', problem: null }] });
});

test('a judge without a usable score is called once more, and a failed one says why', async () => {
  const asked = async () => (await service.call('GET', '/executions?model=sandbox/fixed')).body.data.length;
  const { body } = await attempt({ evaluators: [{ ...RUBRIC, model: 'sandbox/fixed' }], output: 'Hello' });
  expect(body).toMatchObject({ score: null, scores: [{ score: null, problem: 'unusable_judgement' }] });
  expect(await asked()).toBe(2);
  const { body: executions } = await service.call('GET', '/executions?model=sandbox/fixed');
  const [again, first] = await Promise.all(
    executions.data.map(async ({ id }: { id: string }) => (await service.call('GET', `/executions/${id}`)).body.input),
  );
  expect(first).not.toContain('could not be used');
  expect(again).toContain('Your last answer could not be used: it has no JSON object.');
  const both = await attempt({
    evaluators: [
      { ...RUBRIC, model: 'sandbox/fixed' },
      { type: 'contains', values: ['Hello'] },
    ],
    output: 'Hello',
  });
  expect([both.body.score, both.body.scores[1].score]).toEqual([1, 1]);
  const failed = await attempt({ evaluators: [{ ...RUBRIC, model: 'sandbox/fail' }], output: 'Hello' });
  expect(failed.body).toMatchObject({
    score: null,
    scores: [{ score: null, problem: 'evaluator_error', reason: expect.stringContaining('always fails') }],
  });
});

test('long outputs are judged, too, several at once, and delay no other large request', async () => {
  const output = 'x'.repeat(500_000);
  const judges = ['one', 'two', 'three'].map((name) => ({ ...RUBRIC, name }));
  const slow = new AbortController();
  const stalled = fetch(`${service.origin}/v1/evaluators/try`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ evaluators: [{ ...RUBRIC, model: 'sandbox/stall' }], output }),
    signal: slow.signal,
  }).catch(() => undefined);
  const stalling = () => service.call('GET', '/executions?model=sandbox/stall');
  const [asked] = await until('the judge to be asked', async () => {
    const { data } = (await stalling()).body;
    return data.length > 0 && data;
  });
  const { status, body } = await attempt({ evaluators: judges, output, expected: 'x' });
  expect([status, body.scores]).toEqual([200, judges.map(() => expect.objectContaining({ problem: null, score: 0 }))]);
  slow.abort();
  await stalled;
  await service.call('POST', `/executions/${asked.id}/cancel`);
});

test('a caller that leaves while it waits for a thread is not a service error', async () => {
  const counted = async (status: string) =>
    (await service.dependencies.registry.getSingleMetric('pms_http_requests_total')?.get())?.values
      .filter(({ labels }) => labels['route'] === '/v1/evaluators/try' && labels['status'] === status)
      .reduce((sum, { value }) => sum + value, 0) ?? 0;
  const faults = await counted('500');
  const leave = new AbortController();
  const body = JSON.stringify({
    evaluators: [{ type: 'levenshtein' }],
    output: 'ab'.repeat(4_000),
    expected: 'ba'.repeat(4_000),
  });
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
  const all = Array.from({ length: 200 }, () =>
    fetch(`${service.origin}/v1/evaluators/try`, { method: 'POST', headers, body, signal: leave.signal }),
  );
  await Promise.race(all);
  leave.abort();
  await Promise.allSettled(all);
  await until('those that waited to be given up', async () => (await counted('429')) + (await counted('500')) > faults);
  expect(await counted('500')).toBe(faults);
  expect((await attempt({ evaluators: [{ type: 'exact_match' }], output: 'x', expected: 'x' })).body.score).toBe(1);
});

test.each<[object, string]>([
  [{ evaluators: [{ type: 'similar', model: 'sandbox/echo' }] }, 'evaluators.0.type'],
  [{ evaluators: [{ type: 'http', url: 'https://example.com/' }] }, 'evaluators.0.type'],
  [{ evaluators: [{ type: 'regex', pattern: '(' }] }, 'evaluators.0.pattern'],
  [{ evaluators: [] }, 'evaluators'],
  [{ evaluators: [{ ...RUBRIC }, { ...RUBRIC, name: 'unknown', model: 'nobody/none' }] }, 'evaluators.1.model'],
  [{ evaluators: [{ ...RUBRIC }, { ...RUBRIC, name: 'no_key', model: 'mistral/small' }] }, 'evaluators.1.model'],
  [{ evaluators: [{ type: 'exact_match' }], cost: '1e-3' }, 'cost'],
  [{ evaluators: [{ type: 'exact_match' }], output: undefined }, 'output'],
])('%j is refused at %s', async (part, path) => {
  const { status, body } = await attempt({ output: 'Hello', ...part });
  expect([status, body.error.details[0].path]).toEqual([400, path]);
});
