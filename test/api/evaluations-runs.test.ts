import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

/** Judges answer with a grade that their prompt asks for; other prompts are echoed in a sentence. */
function answer({ prompt }: { prompt: string }) {
  if (!prompt.startsWith('You grade')) {
    const text = /^Say json/.test(prompt) ? '{"a": 1, "b": [2]}' : `Answer to: ${prompt}`;
    return { text, usage: { input: 1_000, output: 100 } };
  }
  const usage = { input: 2_000, output: 10 };
  if (prompt.includes('unusable')) return { text: 'I like it', usage };
  return { text: JSON.stringify({ reason: 'fine 👍', score: prompt.includes('bad') ? 1 : 4 }), usage };
}

/** 1,000 input and 100 output tokens of gpt-4o-mini. */
const CALL_USD = 0.00021;

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({ answer });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

function upload(name: string, rows: object[]) {
  const raw = rows.map((row) => JSON.stringify(row)).join('\n');
  return stage.service.call('PUT', `/datasets/${name}`, { raw, headers: { 'Content-Type': 'application/jsonl' } });
}

test('a dataset is evaluated with exact scores, tokens and cost', async () => {
  await upload('hundred', examplesOf('row', 100));
  const run = await stage.run({ dataset: 'hundred', threshold: 0.75, concurrency: 40 });
  expect(run).toMatchObject({
    status: 'completed',
    dataset: { name: 'hundred', version: 1 },
    score: 0.75,
    scores_by_evaluator: { exact_match: 0.75 },
    passed: true,
    examples_total: 100,
    examples_evaluated: 100,
    examples_failed: 0,
    regressions: 25,
    improvements: 0,
    tokens: { input: 100_000, output: 10_000, cached_input: 0, reasoning: 0, total: 110_000 },
    cost: { amount: '0.021', currency: 'USD' },
    judge: { tokens: { total: 0 }, cost: { amount: '0', currency: 'USD' } },
    progress: 1,
    error: null,
  });
  expect(run.latency.p50_ms).toBeGreaterThanOrEqual(0);
  expect(run.latency.p95_ms).toBeGreaterThanOrEqual(run.latency.p50_ms);
  const events = (await stage.events()).filter(({ data }) => data['evaluation_id'] === run.id);
  expect(events).toEqual([
    {
      type: 'evaluation.completed',
      data: { evaluation_id: run.id, prompt_name: 'say', score: 0.75, examples_evaluated: 100, regressions: 25 },
    },
  ]);
  const { rows } = {
    rows: await stage.service.foundation.db.system.query({
      text: `select 1 from events where type like 'execution.%'`,
    }),
  };
  expect(rows).toEqual([]);
});

test('below the threshold an event tells of the regression, with the threshold', async () => {
  const run = await stage.run({ examples: examplesOf('low', 4), threshold: 0.9 });
  const events = (await stage.events()).filter(({ data }) => data['evaluation_id'] === run.id);
  const data = { evaluation_id: run.id, prompt_name: 'say', score: 0.75, examples_evaluated: 4, regressions: 1 };
  expect(events).toEqual([
    { type: 'evaluation.completed', data },
    { type: 'evaluation.regression', data: { ...data, threshold: 0.9 } },
  ]);
});

test('every evaluator scores, by its weight', async () => {
  const run = await stage.run({
    examples: [{ id: 'json', variables: { text: 'json' }, expected: { a: 1, b: [2] } }],
    evaluators: [
      { type: 'exact_match', weight: 2 },
      { type: 'contains', values: ['"a"'] },
      { type: 'regex', pattern: '^\\{.*\\}$' },
      { type: 'json_valid' },
      { type: 'json_schema', schema: { type: 'object', required: ['c'] }, weight: 3 },
      { type: 'json_match' },
      { type: 'levenshtein' },
      { type: 'llm_judge', model: 'gpt-4o-mini', rubric: 'Is it JSON?' },
    ],
  });
  expect(run.status).toBe('completed');
  const [result] = await stage.results(run.id);
  expect(Object.keys(result.scores)).toHaveLength(8);
  expect(result.scores).toMatchObject({
    contains: { score: 1 },
    regex: { score: 1 },
    json_valid: { score: 1 },
    json_schema: { score: 0 },
    json_match: { score: 1 },
    llm_judge: { score: 0.75, reason: 'fine 👍' },
  });
  const weights: Record<string, number> = { exact_match: 2, json_schema: 3 };
  const entries = Object.entries<{ score: number }>(result.scores);
  const sum = entries.reduce((total, [name, { score }]) => total + score * (weights[name] ?? 1), 0);
  expect(result.score).toBeCloseTo(sum / 11, 6);
  expect(run.scores_by_evaluator).toEqual(Object.fromEntries(entries.map(([name, { score }]) => [name, score])));
  expect(run.evaluators.at(-1).model).toBe('openai/gpt-4o-mini');
});

test('examples of a dataset that do not fit the prompt are failed examples, and no call is made for them', async () => {
  await upload('misfits', [...examplesOf('fit', 2), { id: 'misfit', variables: { other: 1 }, expected: 'x' }]);
  const before = stage.openai.callCount;
  const run = await stage.run({ dataset: 'misfits', baseline: null });
  expect(run).toMatchObject({ status: 'completed', examples_failed: 1, examples_evaluated: 3, score: 0.666667 });
  expect(stage.openai.callCount - before).toBe(2);
  expect(await stage.results(run.id, '?failed=true')).toMatchObject([
    {
      example_id: 'misfit',
      status: 'failed',
      score: 0,
      attempts: 0,
      error: { code: 'invalid_example', message: expect.stringContaining('text') },
    },
  ]);
});

test('what a filter withheld is billed, counts 0 and does not distort the latency', async () => {
  stage.openai.behave({
    mode: 'fail',
    status: 200,
    times: 1,
    body: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices: [
        {
          index: 0,
          finish_reason: 'content_filter',
          logprobs: null,
          message: { role: 'assistant', content: '', refusal: null },
        },
      ],
      usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
    },
  });
  const run = await stage.run({ examples: examplesOf('filtered', 1) });
  expect(run).toMatchObject({
    examples_failed: 1,
    score: 0,
    tokens: { total: 1_100 },
    cost: { amount: String(CALL_USD) },
  });
  expect(run.latency).toEqual({ p50_ms: null, p95_ms: null });
  expect(await stage.results(run.id)).toMatchObject([
    { status: 'failed', output: null, error: { code: 'content_filtered' }, attempts: 1 },
  ]);
});

const judging = (rubric: string) => ({ evaluators: [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric }] });

test('a judge has tokens and cost of its own, which are in the total', async () => {
  const run = await stage.run({ examples: examplesOf('judged', 2), ...judging('Is it kind?') });
  expect(run).toMatchObject({
    score: 0.75,
    judge: { tokens: { input: 4_000, output: 20, total: 4_020 }, cost: { amount: '0.000612' } },
    tokens: { input: 6_000, output: 220 },
    cost: { amount: '0.001032' },
  });
});

test('a judge whose answer cannot be used is asked exactly once more', async () => {
  const before = stage.openai.callCount;
  const run = await stage.run({ examples: examplesOf('odd', 1), ...judging('unusable') });
  expect(stage.openai.callCount - before).toBe(3);
  expect(run).toMatchObject({ status: 'completed', score: 0, judge: { tokens: { input: 4_000 } } });
  const [{ scores }] = await stage.results(run.id);
  expect(scores.llm_judge.reason).toContain('no usable score');
});

test('a judge that fails for good fails the example, and a retry asks the judge alone', async () => {
  await stage.prompt('judged-by-other', '{{ text }}', 'sandbox/echo');
  stage.openai.behave({ mode: 'fail', status: 400, times: 1 });
  const run = await stage.run({
    prompt_name: 'judged-by-other',
    examples: examplesOf('unjudged', 1),
    ...judging('Is it kind?'),
  });
  expect(run).toMatchObject({ status: 'completed', examples_failed: 1, score: 0 });
  const before = stage.openai.callCount;
  await stage.control(run.id, 'retry');
  expect(await stage.until(run.id, 'completed')).toMatchObject({ examples_failed: 0, score: 0.75 });
  expect(stage.openai.callCount - before).toBe(1);
});

test('regressions and improvements are counted against the run before over the same dataset', async () => {
  const rows = (expected: string[]) =>
    expected.map((word, index) => ({ id: `b${index}`, variables: { text: `b${index}` }, expected: word }));
  const right = (index: number) => `Answer to: Say b${index}`;
  await upload('compared', rows([right(0), right(1), 'x', right(3)]));
  const before = await stage.run({ dataset: 'compared' });
  expect(before).toMatchObject({ baseline_id: null, regressions: 1 });
  await upload('compared', [
    ...rows([right(0), 'x', right(2)]),
    { id: 'new', variables: { text: 'new' }, expected: 'x' },
  ]);
  const after = await stage.run({ dataset: 'compared' });
  expect(after).toMatchObject({ baseline_id: before.id, regressions: 1, improvements: 1, score: 0.5 });
  const flags = (await stage.results(after.id)).map((row: Record<string, unknown>) => [
    row['example_id'],
    row['baseline_score'],
    row['regression'] ?? false,
    row['improvement'] ?? false,
  ]);
  expect(flags).toEqual([
    ['b0', 1, false, false],
    ['b1', 1, true, false],
    ['b2', 0, false, true],
    ['new', null, false, false],
  ]);
  expect(
    (await stage.results(after.id, '?regression=true')).map((row: { example_id: string }) => row.example_id),
  ).toEqual(['b1']);
  const compare = (id: string, other: string) => stage.service.call('GET', `/evaluations/${id}/compare/${other}`);
  expect((await compare(after.id, before.id)).body).toMatchObject({
    a: before.id,
    b: after.id,
    examples_compared: 3,
    regressions: { total: 1, examples: [{ key: 'b1', difference: -1 }] },
    improvements: { total: 1, examples: [{ key: 'b2' }] },
    only_in_a: { total: 1, keys: ['b3'] },
    only_in_b: { total: 1, keys: ['new'] },
  });
  expect((await compare(before.id, after.id)).body.regressions.examples).toMatchObject([{ key: 'b2' }]);
  expect(await stage.run({ dataset: 'compared', baseline: null })).toMatchObject({ baseline_id: null });
  expect(await stage.run({ dataset: 'compared', baseline: before.id })).toMatchObject({ baseline_id: before.id });
  const waiting = await stage.begin({ dataset: 'compared', start_at: '2099-01-01T00:00:00Z' });
  expect(await compare(waiting, before.id)).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  const deletion = await stage.service.call('DELETE', '/datasets/compared');
  expect(deletion).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
  await stage.control(waiting, 'cancel');
  expect((await stage.service.call('DELETE', '/datasets/compared')).status).toBe(200);
  expect(await stage.results(after.id)).toHaveLength(4);
  expect(await stage.control(waiting, 'retry')).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_state' } },
  });
});

test('inline examples without ids are matched by their content with the run before over the same ones', async () => {
  const examples = [1, 2, 2].map((n) => ({ variables: { text: `same ${n}` }, expected: 'x' }));
  const first = await stage.run({ examples });
  const other = await stage.run({ examples: examples.slice(1) });
  const second = await stage.run({ examples });
  expect([other.baseline_id, second.baseline_id]).toEqual([null, first.id]);
  expect((await stage.results(second.id)).map((row: { baseline_score: number }) => row.baseline_score)).toEqual([
    0, 0, 0,
  ]);
});

test('results come in pages and as CSV that no spreadsheet takes for formulas', async () => {
  const run = await stage.run({
    examples: [...examplesOf('page', 4), { id: '=1+1', variables: { text: 'f' }, expected: '@x' }],
  });
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await stage.service.call(
      'GET',
      `/evaluations/${run.id}/results?limit=2${cursor && `&cursor=${cursor}`}`,
    );
    pages.push(...body.data.map((row: { example_id: string }) => row.example_id));
    cursor = body.next_cursor;
  }
  expect(pages).toEqual(['page-0', 'page-1', 'page-2', 'page-3', '=1+1']);
  const csv = await stage.service.call('GET', `/evaluations/${run.id}/results?format=csv`);
  expect(csv.headers.get('Content-Type')).toContain('text/csv');
  const lines = String(csv.body).trim().split('\n');
  expect(lines[0]).toMatch(/^example_id,status,score,.*score\.exact_match,reason\.exact_match$/);
  expect(lines).toHaveLength(6);
  expect(lines[5]).toMatch(/^'=1\+1,scored,0,/);
  expect(lines[5]).toContain("'@x");
});

test('a list shows sums as they are at the end, by prompt, status and dataset', async () => {
  await stage.prompt('listed');
  const run = await stage.run({ prompt_name: 'listed', examples: examplesOf('listed', 2) });
  const list = async (query: string) => (await stage.service.call('GET', `/evaluations?${query}`)).body.data;
  expect(await list('prompt_name=listed')).toEqual([run]);
  expect(await list('prompt_name=listed&status=failed')).toEqual([]);
  expect(await list('prompt_name=listed&dataset=none')).toEqual([]);
  expect(await list(`prompt_name=listed&since=${run.created_at}`)).toHaveLength(1);
  expect(await list(`prompt_name=listed&until=${run.created_at}`)).toEqual([]);
});
