import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { parsePublicId } from '../../../src/domain/ids.ts';
import { reconcileEvaluations } from '../../../src/jobs/reconcile-evaluations.ts';
import { checkAll } from '../../../src/services/reconciliation/check-all.ts';
import { captureLog } from '../../support/captured-log.ts';
import { type Answer, createCall } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { ENDED, type EvaluationStage, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: EvaluationStage['service']['call'] = (...args) => stage.service.call(...args);
const examples = Array.from({ length: 4 }, (_, index) => ({
  id: `e${index}`,
  variables: { n: index },
  ...(index > 0 && { expected: index === 1 ? null : index }),
}));
const scores = [{ name: 'correct' }, { name: 'short', weight: 3 }];

async function begin(body: object = {}): Promise<Answer['body']> {
  const answer = await call('POST', '/evaluations/code', { body: { name: 'agent', examples, scores, ...body } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}
const send = (id: string, results: object[]) => call('POST', `/evaluations/${id}/results`, { body: { results } });
const finish = (id: string) => call('POST', `/evaluations/${id}/finish`);
const openOf = async (id: string, query = '') =>
  (await call('GET', `/evaluations/${id}/open-examples${query}`)).body.data.map(({ seq }: { seq: number }) => seq);
const scored = (seq: number, correct = 1, short = 1) => ({ seq, output: `out ${seq}`, scores: { correct, short } });
const failed = (seq: number) => ({ seq, error: { code: 'task_failed', message: 'Error: no' } });
/** A run that has completed. */
async function completed(body: object, results: object[]) {
  const { id } = await begin(body);
  expect(await send(id, results)).toMatchObject({ status: 200 });
  const answer = await finish(id);
  expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } });
  return answer.body;
}
const everyScored = (correct = 1) => examples.map((_, seq) => scored(seq, correct));

test('a code run is begun, filled, finished, listed and reported like any other', async () => {
  const run = await begin({ name: 'agent/first', threshold: 0.5, metadata: { commit: 'abc' } });
  expect(run).toMatchObject({
    status: 'running',
    target: { type: 'code', name: 'agent/first' },
    prompt_name: 'agent/first',
    prompt_version: 0,
    model: 'code',
    workflow_id: '',
    metadata: { commit: 'abc' },
    evaluators: [
      { type: 'code', name: 'correct', weight: 1 },
      { type: 'code', name: 'short', weight: 3 },
    ],
    examples_total: 4,
    baseline_id: null,
  });
  expect(Date.parse(run.results_due_at) - Date.now()).toBeGreaterThan(71 * 3_600_000);
  const { body: open } = await call('GET', `/evaluations/${run.id}/open-examples`);
  expect(open).toEqual({
    data: [
      { seq: 0, example_id: 'e0', variables: { n: 0 } },
      { seq: 1, example_id: 'e1', variables: { n: 1 }, expected: null },
      { seq: 2, example_id: 'e2', variables: { n: 2 }, expected: 2 },
      { seq: 3, example_id: 'e3', variables: { n: 3 }, expected: 3 },
    ],
    next_cursor: expect.any(String),
  });
  const sent = [
    { ...scored(0, 1, 0), duration_ms: 40 },
    {
      seq: 1,
      output: '{"a":1}',
      scores: { correct: { score: 0.3333333333, reason: 'No.' }, short: 1 },
      duration_ms: 20,
    },
    failed(2),
  ];
  expect((await send(run.id, sent)).body).toEqual({ stored: 3, known: 0 });
  expect(await openOf(run.id)).toEqual([3]);
  const { body: list } = await call('GET', '/evaluations?target=code&prompt_name=agent/first');
  expect(list.data).toMatchObject([{ id: run.id, examples_evaluated: 3, examples_failed: 1, progress: 0.75 }]);
  const early = await finish(run.id);
  expect(early).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  expect(early.body.error.message).toContain('1 of 4 examples');
  await send(run.id, [{ seq: 3, scores: { correct: 1, short: 1 } }]);
  const { body: ended } = await finish(run.id);
  expect(ended).toMatchObject({
    status: 'completed',
    score: 0.520833,
    passed: true,
    scores_by_evaluator: { correct: 0.583333, short: 0.5 },
    examples_evaluated: 4,
    examples_failed: 1,
    regressions: 2,
    latency: { p50_ms: 20, p95_ms: 40 },
    tokens: { total: 0 },
    results_due_at: null,
    error: null,
  });
  expect(await stage.results(run.id)).toMatchObject([
    { output: 'out 0', score: 0.25, model: null, model_ms: 40, attempts: 0 },
    { output: '{"a":1}', score: 0.833333, scores: { correct: { score: 0.333333, reason: 'No.' } }, expected: null },
    { output: null, score: 0, status: 'failed', error: { code: 'task_failed', message: 'Error: no' } },
    { output: null, score: 1, status: 'scored' },
  ]);
  expect((await call('GET', `/evaluations/${run.id}/results/0/input`)).body).toEqual({ input: null });
  const csv = await call('GET', `/evaluations/${run.id}/results?format=csv`);
  expect(csv.status).toBe(200);
  expect((await finish(run.id)).body).toEqual(ended);
  const told = (await stage.events()).filter(({ data }) => data['evaluation_id'] === run.id);
  expect(told).toMatchObject([{ type: 'evaluation.completed', data: { prompt_name: 'agent/first', score: 0.520833 } }]);
  expect((await call('GET', '/usage?group_by=prompt')).body.evaluations).toEqual([]);
});

test('runs of one name are compared, with the baseline and each other', async () => {
  await stage.prompt('agent/compared');
  const before = await completed({ name: 'agent/compared', threshold: 0 }, everyScored());
  const after = await completed({ name: 'agent/compared' }, [scored(0), scored(1), scored(2, 0), failed(3)]);
  expect(after).toMatchObject({
    baseline_id: before.id,
    regressions: 2,
    improvements: 0,
    score: 0.6875,
    passed: false,
  });
  const { body } = await call('GET', `/evaluations/${after.id}/compare/${before.id}`);
  expect(body).toMatchObject({ examples_compared: 4, regressions: { total: 2 }, difference: -0.3125 });
  expect(body.by_evaluator).toMatchObject([
    { name: 'correct', score_b: 0.5 },
    { name: 'short', score_b: 0.75 },
  ]);
  const given = await completed({ name: 'agent/other', baseline: before.id }, everyScored());
  expect(given).toMatchObject({ baseline_id: before.id, regressions: 0 });
  expect(await completed({ name: 'agent/compared', baseline: null }, everyScored())).toMatchObject({
    baseline_id: null,
  });
  // A prompt of the same name has other runs, and none of these.
  const own = await stage.run({
    prompt_name: 'agent/compared',
    examples: [{ variables: { text: 'x' } }],
    evaluators: [{ type: 'contains', value: 'x' }],
  });
  expect(own).toMatchObject({ target: { type: 'prompt' }, baseline_id: null });
  const { body: series } = await call('GET', '/statistics/prompts/agent%2Fcompared');
  expect(series.scores.map(({ evaluation_id: id }: { evaluation_id: string }) => id)).toEqual([own.id]);
  expect((await call('GET', '/evaluations?target=prompt&prompt_name=agent/compared')).body.data).toHaveLength(1);
});

test('a stored result stays, however often it is sent', async () => {
  const { id } = await begin();
  expect((await send(id, [scored(0), scored(1)])).body).toEqual({ stored: 2, known: 0 });
  expect((await send(id, [scored(1, 0), scored(2), failed(0)])).body).toEqual({ stored: 1, known: 2 });
  expect((await stage.read(id)).examples_evaluated).toBe(3);
  expect((await stage.results(id)).map(({ score }: { score: number }) => score)).toEqual([1, 1, 1]);
  const at = await Promise.all(Array.from({ length: 6 }, () => send(id, [scored(3, 0)])));
  expect(at.map(({ body }) => body.stored).filter((stored) => stored === 1)).toHaveLength(1);
  expect((await Promise.all([finish(id), finish(id), finish(id)])).map(({ status }) => status)).toEqual([
    200, 200, 200,
  ]);
  expect((await stage.events()).filter(({ data }) => data['evaluation_id'] === id)).toHaveLength(1);
});

test('a run is continued by its name if examples and scores are the same', async () => {
  const body = { name: 'agent/resumed', resume: true };
  const first = await begin(body);
  await send(first.id, [scored(0), scored(2)]);
  const again = await begin(body);
  expect(again.id).toBe(first.id);
  expect(await openOf(first.id)).toEqual([1, 3]);
  expect(await openOf(first.id, '?limit=1')).toEqual([1]);
  for (const other of [
    { resume: false },
    { scores: [{ name: 'correct' }] },
    { examples: examples.slice(1) },
    { name: 'agent/another' },
  ])
    expect((await begin({ ...body, ...other })).id).not.toBe(first.id);
  await completed({ name: 'agent/resumed', resume: false }, everyScored());
});

test('an Idempotency-Key starts one run', async () => {
  const body = { name: 'agent/key', examples, scores };
  const headers = { 'Idempotency-Key': 'begin-once' };
  const [first, second] = [
    await call('POST', '/evaluations/code', { body, headers }),
    await call('POST', '/evaluations/code', { body, headers }),
  ];
  expect(second.body).toEqual(first.body);
  expect((await call('GET', '/evaluations?prompt_name=agent/key')).body.data).toHaveLength(1);
});

test('failed results are sent again after a retry, and scored ones stay', async () => {
  const run = await completed({}, [scored(0), failed(1), scored(2), failed(3)]);
  const { status, body } = await stage.control(run.id, 'retry');
  expect([status, body.status, body.retries]).toEqual([200, 'running', 1]);
  expect(await openOf(run.id)).toEqual([1, 3]);
  expect((await send(run.id, [scored(0, 0), scored(1), failed(3)])).body).toEqual({ stored: 2, known: 1 });
  expect(await stage.read(run.id)).toMatchObject({ examples_evaluated: 4, examples_failed: 1 });
  const list = await call('GET', '/evaluations?target=code&limit=1');
  expect(list.body.data[0]).toMatchObject({ examples_evaluated: 4, examples_failed: 1 });
  expect((await finish(run.id)).body).toMatchObject({ status: 'completed', score: 0.75, examples_failed: 1 });
});

test("the outputs are rescored by the service's evaluators", async () => {
  const source = await completed({ name: 'agent/rescored' }, [
    { ...scored(0), output: 'yes' },
    { ...scored(1), output: 'no' },
    scored(2),
    failed(3),
  ]);
  const without = await stage.control(source.id, 'rescore', {});
  expect([without.status, without.body.error?.details[0].path]).toEqual([400, 'evaluators']);
  const evaluators = [
    { type: 'contains', value: 'yes' },
    { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is it yes?' },
  ];
  const { status, body } = await stage.control(source.id, 'rescore', { evaluators });
  expect([status, body.target]).toEqual([201, { type: 'code', name: 'agent/rescored' }]);
  const ended = await stage.until(body.id, ...ENDED);
  expect(ended).toMatchObject({ status: 'completed', examples_failed: 1, source_evaluation_id: source.id });
  expect(ended.scores_by_evaluator.contains).toBe(0.25);
  expect(ended.workflow_id).not.toBe('');
  expect((await send(body.id, [scored(0)])).status).toBe(400);
});

test('over a dataset, which stays until the run ends', async () => {
  const lines = examples.map((example) => `${JSON.stringify(example)}\n`).join('');
  const upload = { raw: lines, headers: { 'Content-Type': 'application/jsonl' } };
  await call('PUT', '/datasets/for-code', upload);
  const run = await begin({ examples: undefined, dataset: 'for-code' });
  expect(run.dataset).toEqual({ name: 'for-code', version: 1 });
  expect(await openOf(run.id)).toEqual([0, 1, 2, 3]);
  expect((await call('DELETE', '/datasets/for-code')).status).toBe(400);
  await stage.control(run.id, 'cancel');
  expect((await call('DELETE', '/datasets/for-code')).status).toBe(200);
  expect((await stage.control(run.id, 'retry')).status).toBe(400);
  expect(await begin({ examples: undefined, dataset: 'no-such' }).catch(String)).toContain('not_found');
});

describe('what is refused', () => {
  test.each<[string, object, string]>([
    ['neither dataset nor examples', { examples: undefined }, 'dataset'],
    ['both', { dataset: 'x' }, 'dataset'],
    ['no scores', { scores: [] }, 'scores'],
    ['two scores of one name', { scores: [{ name: 'a' }, { name: 'a' }] }, 'scores'],
    ['an invalid name', { scores: [{ name: '__proto__' }] }, 'scores.0.name'],
    ['a weight of 0', { scores: [{ name: 'a', weight: 0 }] }, 'scores.0.weight'],
    ['an unknown baseline', { baseline: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }, 'baseline'],
    ['an unknown field', { evaluators: [] }, 'evaluators'],
    ['a name with a space', { name: 'my agent' }, 'name'],
    ['two examples with one id', { examples: [examples[0], examples[0]] }, 'examples.1.id'],
  ])('a run with %s', async (_, body, path) => {
    const answer = await call('POST', '/evaluations/code', { body: { name: 'agent', examples, scores, ...body } });
    expect([answer.status, answer.body.error?.message]).toEqual([400, expect.stringContaining(path)]);
  });

  const both = { correct: 1, short: 1 };
  test.each<[string, unknown[], string]>([
    ['no results', [], 'results'],
    ['an example that is not there', [{ seq: 4, scores: both }], 'results.0.seq'],
    ['a negative place', [{ seq: -1, scores: both }], 'results.0.seq'],
    [
      'the same example twice',
      [
        { seq: 0, scores: both },
        { seq: 0, scores: both },
      ],
      'results.1.seq',
    ],
    ['a score that is missing', [{ seq: 0, scores: { correct: 1 } }], 'results.0.scores'],
    ['an undeclared score', [{ seq: 0, scores: { ...both, more: 1 } }], 'results.0.scores'],
    ['another score', [{ seq: 0, scores: { correct: 1, toString: 1 } }], 'results.0.scores'],
    ['a score above 1', [{ seq: 0, scores: { ...both, short: 1.1 } }], 'results.0.scores.short'],
    [
      'a reason that is too long',
      [{ seq: 0, scores: { ...both, short: { score: 1, reason: 'x'.repeat(501) } } }],
      'reason',
    ],
    ['neither scores nor an error', [{ seq: 0, output: 'x' }], 'results.0.scores'],
    ['both', [{ seq: 0, scores: both, error: { code: 'x', message: '' } }], 'results.0.scores'],
    ['an invalid error code', [{ seq: 0, error: { code: 'Not ok', message: '' } }], 'results.0.error.code'],
    ['an output that is not a text', [{ seq: 0, output: { a: 1 }, scores: both }], 'results.0.output'],
    ['NUL in a text', [{ seq: 0, output: 'a\0b', scores: both }], 'results.0.output'],
    ['too many', Array.from({ length: 501 }, (_, seq) => ({ seq, scores: both })), 'results'],
    ['a number for a result', [7], 'results.0'],
  ])('results with %s, and none of them are stored', async (_, results, path) => {
    const { id } = await begin({ name: 'agent/refused', resume: true });
    const answer = await send(id, results as object[]);
    expect([answer.status, answer.body.error?.message]).toEqual([400, expect.stringContaining(path)]);
    expect(await stage.results(id)).toEqual([]);
  });

  test('one bad result of several: nothing is stored', async () => {
    const { id } = await begin();
    expect((await send(id, [scored(0), scored(9)])).status).toBe(400);
    expect(await openOf(id)).toEqual([0, 1, 2, 3]);
  });

  test('a body that is too large', async () => {
    const { id } = await begin();
    const answer = await send(id, [{ ...scored(0), output: 'x'.repeat(1024 * 1024) }]);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'payload_too_large']);
  });

  test('results after the end, and for runs of the service', async () => {
    const done = await completed({}, everyScored());
    const canceled = await begin();
    expect((await stage.control(canceled.id, 'cancel')).body.status).toBe('canceled');
    const own = await stage.begin({ examples: [{ variables: { text: 'x' } }], start_at: '2099-01-01T00:00:00Z' });
    for (const id of [done.id, canceled.id, own])
      expect(await send(id, [scored(0)])).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
    expect((await finish(canceled.id)).status).toBe(400);
    expect((await finish(own)).status).toBe(400);
    await stage.control(own, 'cancel');
  });

  test('pausing and resuming, only for the service', async () => {
    const { id } = await begin();
    expect((await stage.control(id, 'pause')).body.error.message).toContain('your program runs it');
    expect((await stage.control(id, 'resume', { max_cost: 5 })).status).toBe(400);
    expect((await stage.read(id)).status).toBe('running');
  });

  test('another workspace, which does not see it', async () => {
    const other = await createOtherWorkspace(stage.service, 'code-other');
    const { id } = await begin();
    for (const [method, path, body] of [
      ['GET', 'open-examples', undefined],
      ['POST', 'results', { results: [scored(0)] }],
      ['POST', 'finish', undefined],
      ['POST', 'retry', undefined],
    ] as const)
      expect((await other.call(method, `/evaluations/${id}/${path}`, { body })).status).toBe(404);
    const body = { name: 'agent', examples, scores, baseline: id };
    expect((await other.call('POST', '/evaluations/code', { body })).status).toBe(400);
    const resumed = await other.call('POST', '/evaluations/code', { body: { ...body, baseline: null, resume: true } });
    expect(resumed.body.id).not.toBe(id);
    expect(await openOf(id)).toEqual([0, 1, 2, 3]);
  });

  test('keys without the scope; keys without read are shown nothing', async () => {
    const { id } = await begin();
    const using = async (...scopes: Parameters<typeof createKey>[1][]) =>
      createCall(stage.service.origin, (await createKey(stage.service, ...scopes)).key);
    const reader = await using('read');
    const runner = await using('execute');
    expect((await reader('POST', '/evaluations/code', { body: { name: 'a', examples, scores } })).status).toBe(401);
    expect((await reader('POST', `/evaluations/${id}/results`, { body: { results: everyScored() } })).status).toBe(401);
    expect((await reader('POST', `/evaluations/${id}/finish`)).status).toBe(401);
    expect((await runner('GET', `/evaluations/${id}/open-examples`)).status).toBe(401);
    expect((await runner('POST', `/evaluations/${id}/results`, { body: { results: everyScored() } })).status).toBe(200);
    expect((await runner('POST', `/evaluations/${id}/finish`)).body).toMatchObject({
      status: 'completed',
      score: null,
    });
  });
});

test('quotas apply: to unfinished runs, and to bytes', async () => {
  const { dependencies } = stage.service;
  const quotas = { ...dependencies.settings.quotas, evaluations: 1, executionBytes: 20_000 };
  const settings = { ...dependencies.settings, quotas };
  const api = await startApi({ ...dependencies, settings, registry: new Registry() }, { eager: false });
  try {
    const { key } = await createOtherWorkspace(stage.service, 'code-quotas');
    const own = createCall(`http://127.0.0.1:${api.port}`, key);
    const body = { name: 'agent', examples, scores };
    const { body: run } = await own('POST', '/evaluations/code', { body });
    expect((await own('POST', '/evaluations/code', { body })).body.error.code).toBe('quota_exceeded');
    const results = [{ ...scored(0), output: 'x'.repeat(30_000) }];
    expect((await own('POST', `/evaluations/${run.id}/results`, { body: { results } })).status).toBe(200);
    const full = await own('POST', `/evaluations/${run.id}/results`, { body: { results: [scored(1)] } });
    expect([full.status, full.body.error.code]).toEqual([429, 'quota_exceeded']);
    await own('POST', `/evaluations/${run.id}/cancel`);
    expect((await own('DELETE', `/evaluations/${run.id}`)).status).toBe(200);
    expect((await own('POST', '/evaluations/code', { body })).status).toBe(201);
  } finally {
    await api.close(0);
  }
});

test('a run whose program disappears ends, and a retry continues it', async () => {
  const { db, client, taskQueues } = stage.service.dependencies;
  const { log } = captureLog();
  const ended: string[] = [];
  const look = () =>
    reconcileEvaluations({
      db,
      starter: { client, taskQueues, eager: false },
      log,
      onEvaluationEnd: (status) => ended.push(status),
    });
  const { id } = await begin({ name: 'agent/abandoned' });
  await send(id, [scored(0)]);
  // Checks everything, as an operator can; this one is not due yet.
  await checkAll(db.system);
  await look();
  expect((await stage.read(id)).status).toBe('running');
  const past = (uuid: string | undefined) =>
    db.system.query(
      {
        // raw SQL: days pass.
        text: "update evaluations set results_due_at = now() - interval '1 second', check_at = now() - interval '1 second' where id = $1",
      },
      [uuid],
    );
  await past(parsePublicId('evaluation', id));
  await look();
  expect(await stage.read(id)).toMatchObject({
    status: 'failed',
    error: { code: 'abandoned' },
    examples_evaluated: 1,
    finished_at: expect.any(String),
  });
  expect((await send(id, [scored(1)])).status).toBe(400);
  expect(ended).toEqual(['failed']);
  expect((await stage.control(id, 'retry')).body).toMatchObject({ status: 'running', error: null });
  await look();
  await send(id, [scored(1), scored(2), scored(3)]);
  expect((await finish(id)).body).toMatchObject({ status: 'completed', score: 1 });
});
