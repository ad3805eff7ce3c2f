import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

/** Judges respond with the grade in their prompt; other prompts are echoed in a sentence. */
function answer({ prompt }: { prompt: string }) {
  if (!prompt.startsWith('You grade')) {
    const text = prompt.startsWith('Say json') ? '{"a": 1, "b": [2]}' : `Answer to: ${prompt}`;
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
  const run = await stage.run({ dataset: 'hundred', threshold: 0.75, concurrency: 80 });
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
    rows: await stage.service.dependencies.db.system.query(
      { text: `select 1 from events where workspace_id = $1 and type like 'execution.%'` },
      [stage.service.workspaceId],
    ),
  };
  expect(rows).toEqual([]);
});

test('below the threshold an event reports the regression, with the threshold', async () => {
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

test('examples of a dataset that do not fit the prompt fail, and no call is made for them', async () => {
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

test('a withheld answer is billed, counts 0 and does not distort the latency', async () => {
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

test('a judge has its own tokens and cost, which are in the total', async () => {
  const run = await stage.run({ examples: examplesOf('judged', 2), ...judging('Is it kind?') });
  expect(run).toMatchObject({
    score: 0.75,
    judge: { tokens: { input: 4_000, output: 20, total: 4_020 }, cost: { amount: '0.000612' } },
    tokens: { input: 6_000, output: 220 },
    cost: { amount: '0.001032' },
  });
});

test('a judge whose answer is unusable is called exactly once more', async () => {
  const before = stage.openai.callCount;
  const run = await stage.run({ examples: examplesOf('odd', 1), ...judging('unusable') });
  expect(stage.openai.callCount - before).toBe(3);
  expect(run).toMatchObject({ status: 'completed', score: null, judge: { tokens: { input: 4_000 } } });
  const [{ scores, unscored }] = await stage.results(run.id);
  expect([scores, unscored.llm_judge.reason]).toEqual([{}, expect.stringContaining('no usable score')]);
});

test('a judge that fails for good fails the example, and a retry calls only the judge', async () => {
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

test('the default baseline is the newest run with the same evaluators, in any order', async () => {
  await upload('evaluators', examplesOf('ev', 20));
  const exact = { type: 'exact_match' };
  const long = { type: 'length', at_least: 1_000 };
  const [first, other] = [
    await stage.run({ dataset: 'evaluators', evaluators: [exact] }),
    await stage.run({ dataset: 'evaluators', evaluators: [long] }),
  ];
  expect(first.baseline_id).toBeNull();
  expect(other).toMatchObject({ baseline_id: null, score: 0 });
  const both = await stage.run({ dataset: 'evaluators', evaluators: [exact, long] });
  expect(both.baseline_id).toBeNull();
  const again = await stage.run({ dataset: 'evaluators', evaluators: [long, exact] });
  expect(again).toMatchObject({ baseline_id: both.id, regressions: 0, improvements: 0 });
  const counted = await stage.run({ dataset: 'evaluators', evaluators: [exact], example_threshold: 0.5 });
  expect(counted.baseline_id).toBeNull();
  const last = await stage.run({ dataset: 'evaluators', evaluators: [exact] });
  expect(last).toMatchObject({ baseline_id: first.id, regressions: 0 });
});

test('a given baseline with other evaluators is compared over shared ones, and refused without any', async () => {
  await upload('given', examplesOf('given', 20));
  const exact = { type: 'exact_match' };
  const long = { type: 'length', at_least: 1_000 };
  const baseline = await stage.run({ dataset: 'given', evaluators: [exact] });
  const run = await stage.run({ dataset: 'given', evaluators: [exact, long], baseline: baseline.id });
  expect(run).toMatchObject({ baseline_id: baseline.id, regressions: 0, improvements: 0 });
  const refused = await stage.service.call('POST', '/evaluations', {
    body: { prompt_name: 'say', dataset: 'given', evaluators: [long], baseline: baseline.id },
  });
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ path: 'baseline', message: expect.stringContaining('none of these evaluators with the same options') }],
  ]);
});

test('an evaluator with reordered or fewer options is a different one', async () => {
  await upload('schemas', examplesOf('schemas', 5));
  const ofSchema = (schema: object) => [{ type: 'json_schema', schema }];
  const [one, other] = [{ type: 'object' }, { type: 'object', maxProperties: 1 }];
  const pair = await stage.run({ dataset: 'schemas', evaluators: ofSchema({ anyOf: [one, other] }) });
  const fewer = await stage.run({ dataset: 'schemas', evaluators: ofSchema({ anyOf: [other] }) });
  expect(fewer.baseline_id).toBeNull();
  const swapped = await stage.run({ dataset: 'schemas', evaluators: ofSchema({ anyOf: [other, one] }) });
  expect(swapped.baseline_id).toBeNull();
  const again = await stage.run({ dataset: 'schemas', evaluators: ofSchema({ anyOf: [one, other] }) });
  expect(again.baseline_id).toBe(pair.id);
});
