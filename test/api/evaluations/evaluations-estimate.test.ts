import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { longestBlock } from '../../support/event-loop.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const EVALUATORS = [{ type: 'exact_match' }];
const JUDGE = { type: 'llm_judge', model: 'openai/gpt-4o', rubric: 'Be kind.' };

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({
    answer: ({ prompt }) => ({ text: `Answer to: ${prompt}`, usage: { input: 30, output: 70 } }),
  });
});
afterAll(() => stage?.stop());

const estimate = (body: object, options = {}) =>
  stage.service.call('POST', '/evaluations/estimate', {
    body: { prompt_name: 'say', evaluators: EVALUATORS, ...body },
    ...options,
  });
const count = async (table: string) => {
  const { dependencies, workspaceId } = stage.service;
  const rows = await dependencies.db.system.query<{ count: number }>(
    { text: `select count(*)::int from ${table} where workspace_id = $1` },
    [workspaceId],
  );
  return rows[0]?.count;
};

describe('tokens and cost', () => {
  test('come from the filled prompt and an assumption where it has never run', async () => {
    // 30 characters are 10 tokens.
    await stage.prompt('fresh', '{{ text }}'.padEnd(25, '.'));
    const examples = [{ variables: { text: 'a'.repeat(15) } }, { variables: { text: 'b'.repeat(15) } }];
    const { status, body } = await estimate({ prompt_name: 'fresh', examples });
    expect(status).toBe(200);
    expect(body).toEqual({
      examples: 2,
      model_calls: 2,
      judge_calls: 0,
      tokens: { input: 20, output: 1_000 },
      // 20 × 0.15 + 1,000 × 0.60 US dollars per million.
      cost: { amount: '0.000603', currency: 'USD' },
      savings: null,
      basis: expect.stringContaining('filled with all 2 examples'),
    });
    expect(body.basis).toContain('500 a call, an assumption');
  });

  test('come from max_tokens where there is one', async () => {
    const body = { name: 'short', template: '{{ text }}', model: 'openai/gpt-4o-mini', parameters: { max_tokens: 7 } };
    await stage.service.call('POST', '/prompts', { body });
    const answer = await estimate({ prompt_name: 'short', examples: examplesOf('short', 10) });
    expect(answer.body).toMatchObject({ tokens: { output: 70 }, basis: expect.stringContaining('max_tokens') });
  });

  test('come from past runs, preferably from an evaluation', async () => {
    await stage.prompt('used', 'Used {{ text }}');
    const run = { prompt_name: 'used', variables: { text: 'x' } };
    const executed = await stage.service.call('POST', '/executions', { body: run });
    expect(executed.body.tokens.output).toBe(70);
    const examples = examplesOf('used', 10);
    const byRun = await estimate({ prompt_name: 'used', examples });
    expect(byRun.body).toMatchObject({
      tokens: { output: 700 },
      basis: expect.stringContaining('its newest run on this model'),
    });
    await stage.run({ prompt_name: 'used', examples, evaluators: EVALUATORS });
    const byEvaluation = await estimate({ prompt_name: 'used', examples });
    expect(byEvaluation.body).toMatchObject({
      tokens: { output: 700 },
      basis: expect.stringContaining('its newest evaluation on this model'),
    });
  });

  test('include the judges', async () => {
    await stage.prompt('judged', '{{ text }}');
    const examples = examplesOf('judged', 4);
    const without = (await estimate({ prompt_name: 'judged', examples })).body;
    const { body } = await estimate({ prompt_name: 'judged', examples, evaluators: [...EVALUATORS, JUDGE] });
    expect(body).toMatchObject({ model_calls: 4, judge_calls: 4 });
    expect(body.tokens.input).toBeGreaterThan(without.tokens.input + 4 * 500);
    expect(body.tokens.output).toBe(without.tokens.output + 400);
    expect(Number(body.cost.amount)).toBeGreaterThan(Number(without.cost.amount));
  });

  test('are reported as unknown if a model has no known price, and are 0 with the sandbox', async () => {
    await stage.prompt('unpriced', '{{ text }}', 'openai/no-such-model');
    await stage.prompt('free', '{{ text }}', 'sandbox/echo');
    const examples = examplesOf('unpriced', 1);
    const { body } = await estimate({ prompt_name: 'unpriced', examples });
    expect(body).toMatchObject({ cost: null, tokens: { output: 500 } });
    expect(body.basis).toContain('openai/no-such-model has no known price');
    const free = await estimate({ prompt_name: 'free', examples });
    expect(free.body.cost).toEqual({ amount: '0', currency: 'USD' });
  });
});

test('examples of a dataset that do not fit the prompt do not count as calls', async () => {
  const lines = Array.from({ length: 200 }, (_, index) =>
    JSON.stringify({ variables: index < 100 ? { text: `${index}` } : { other: 'x' } }),
  );
  await stage.service.call('PUT', '/datasets/half', {
    raw: `${lines.join('\n')}\n`,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const { body } = await estimate({ dataset: 'half' });
  expect(body).toMatchObject({ examples: 200, model_calls: 100, basis: expect.stringContaining('50 of 200 examples') });
});

test('creates and calls nothing, and needs only the scope read', async () => {
  const before = [await count('evaluations'), await count('dataset_versions'), stage.openai.callCount];
  const { key } = await createKey(stage.service, 'read');
  const { status } = await estimate({ examples: examplesOf('nothing', 5), metadata: { a: 'b' } }, { key });
  expect(status).toBe(200);
  expect([await count('evaluations'), await count('dataset_versions'), stage.openai.callCount]).toEqual(before);
});

test('requests that creation refuses are refused likewise', async () => {
  const other = await createOtherWorkspace(stage.service, 'other');
  await stage.prompt('cap', '{{ text }}', 'openai/no-such-model');
  const examples = examplesOf('refused', 2);
  const bodies = [
    { prompt_name: 'no/such', examples },
    { dataset: 'no/such' },
    { examples: [{ variables: {} }] },
    { examples: [] },
    { examples, dataset: 'half' },
    { examples, evaluators: [{ type: 'regex', pattern: '(' }] },
    { examples, evaluators: [{ ...JUDGE, model: 'mistral/mistral-small-latest' }] },
    { prompt_name: 'cap', examples, max_cost: 1 },
    { examples, baseline: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' },
    { examples, no_such: 1 },
  ];
  for (const body of bodies) {
    const created = await stage.create({ evaluators: EVALUATORS, ...body });
    const estimated = await estimate(body);
    expect([estimated.status, estimated.body]).toEqual([created.status, created.body]);
    expect([400, 404]).toContain(estimated.status);
  }
  const body = { prompt_name: 'say', examples, evaluators: EVALUATORS };
  expect((await other.call('POST', '/evaluations/estimate', { body })).status).toBe(404);
});

/** The documented limit is 100 ms. The test's own process, in which the service runs, also collects garbage of other tests. */
const MAX_BLOCK_MS = 500;

describe('however large the run, the estimate is quick:', () => {
  test('a thousand inline examples of a large prompt', async () => {
    await stage.prompt('large', `${'{{ text }} and '.repeat(1_000)}${'x'.repeat(200_000)}`);
    const examples = Array.from({ length: 1_000 }, (_, index) => ({
      variables: { text: `${index}`.padEnd(700, 'y') },
    }));
    const { result, blockMs } = await longestBlock(() => estimate({ prompt_name: 'large', examples }), MAX_BLOCK_MS);
    expect(result.body).toMatchObject({ examples: 1_000, model_calls: 1_000 });
    expect(blockMs).toBeLessThan(MAX_BLOCK_MS);
  });

  test('a dataset of large examples', async () => {
    const line = `${JSON.stringify({ variables: { text: 'z'.repeat(900_000) } })}\n`;
    const { status } = await stage.service.call('PUT', '/datasets/large', {
      raw: line.repeat(60),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect(status).toBe(200);
    const { result, blockMs } = await longestBlock(() => estimate({ dataset: 'large' }), MAX_BLOCK_MS);
    expect(result.body).toMatchObject({ examples: 60, model_calls: 60 });
    expect(result.body.tokens.input).toBeGreaterThan(60 * 300_000);
    expect(blockMs).toBeLessThan(MAX_BLOCK_MS);
  });
});
