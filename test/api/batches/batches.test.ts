import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import { readBatches, savingsOf } from '../../../src/services/batches/read-batches.ts';
import { examplesOf } from '../evaluations/evaluations-support.ts';
import { type BatchStage, essence, idOf, RUBRIC, startBatchStage } from './batches-support.ts';

let stage: BatchStage;
beforeAll(async () => {
  stage = await startBatchStage();
});
afterAll(() => stage.stop());

test('a run in batch mode has the scores of an interactive one at half the cost, without single calls', async () => {
  const examples = examplesOf('half', 40);
  const evaluators = [{ type: 'exact_match' }];
  const interactive = await stage.run({ examples, evaluators });
  const called = stage.openai.callCount;

  const run = await stage.runBatch({ examples, evaluators });
  expect(run).toMatchObject({
    status: 'completed',
    examples_evaluated: 40,
    examples_failed: 0,
    score: interactive.score,
  });
  expect(stage.openai.callCount).toBe(called);
  expect(new Big(run.cost.amount).times(2).eq(interactive.cost.amount)).toBe(true);
  const [ours, theirs] = [await stage.results(run.id), await stage.results(interactive.id)];
  expect(essence(ours)).toEqual(essence(theirs));

  const { query } = stage.service.dependencies.db.system;
  const priced = await query<{ multiplier: string }>(
    {
      text: `select distinct pricing->>'batch_multiplier' as multiplier from evaluation_results where evaluation_id = $1`,
    },
    [idOf(run.id)],
  );
  expect(priced).toEqual([{ multiplier: '0.5' }]);
  expect(new Big(await savingsOf(query, idOf(run.id))).eq(run.cost.amount)).toBe(true);
  const [row, ...others] = await readBatches(query, idOf(run.id));
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    number: 1,
    wave: 'responses',
    status: 'completed',
    items: 40,
    counts: { total: 40, succeeded: 40, failed: 0 },
    error: null,
  });
  await stage.expectNothingLeft(1);
});

test('judges are called in a second wave, and grade as in an interactive run', async () => {
  const examples = examplesOf('judged', 12);
  const evaluators = [
    { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: RUBRIC },
    { type: 'contains', value: 'Say' },
  ];
  const interactive = await stage.run({ examples, evaluators });
  const called = stage.openai.callCount;
  const run = await stage.runBatch({ examples, evaluators });
  expect(stage.openai.callCount).toBe(called);
  expect(run).toMatchObject({ status: 'completed', score: interactive.score, examples_failed: 0 });
  expect(essence(await stage.results(run.id))).toEqual(essence(await stage.results(interactive.id)));
  expect(new Big(run.judge.cost.amount).times(2).eq(interactive.judge.cost.amount)).toBe(true);
  expect(await stage.rows(run.id)).toMatchObject([
    { wave: 'responses', evaluator: null, status: 'completed', items: 12 },
    { wave: 'judgements', evaluator: 'llm_judge', status: 'completed', items: 12 },
  ]);
  await stage.expectNothingLeft();
});

test('calls beyond the budget at expected prices wait for money from batches; with too little the run pauses', async () => {
  const examples = examplesOf('budget', 12);
  const before = stage.openai.batches.inspect().created;
  // The second one is prepared while the first one holds the money.
  stage.behave({ completeMs: 1_500 });
  const run = await stage.runBatch({ examples, evaluators: [{ type: 'exact_match' }], max_cost: '0.001' });
  stage.behave();
  expect(run).toMatchObject({ status: 'completed', examples_failed: 0 });
  expect(Number(run.cost.amount)).toBeLessThan(0.001);
  const rows = await stage.rows(run.id);
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.reduce((sum, { items }) => sum + items, 0)).toBe(12);
  expect(stage.openai.batches.inspect().created - before).toBe(rows.length);

  const poor = await stage.beginBatch({ examples, evaluators: [{ type: 'exact_match' }], max_cost: '0.00001' });
  expect(await stage.until(poor, 'paused')).toMatchObject({ status_reason: expect.stringContaining('of max_cost') });
  expect((await stage.control(poor, 'resume', { max_cost: '1' })).status).toBe(200);
  expect(await stage.until(poor, 'completed')).toMatchObject({ examples_failed: 0 });
  await stage.expectNothingLeft();
});

test('a small budget holds for calls that cost thousands of times the estimate: the first batch has one call', async () => {
  const evaluators = [{ type: 'exact_match' }];
  const id = await stage.beginBatch({ examples: examplesOf('dear', 50), evaluators, max_cost: 1 });
  const run = await stage.until(id, 'paused');
  const items = (await stage.rows(id)).map((row) => row.items);
  expect(items.slice(0, 3)).toEqual([1, 1, 1]);
  expect(Number(run.cost.amount)).toBeGreaterThan(0.5);
  expect(Number(run.cost.amount)).toBeLessThanOrEqual(1);
  await stage.control(id, 'cancel');
});

test('max_tokens limits the cost of a call: all that fit are in the first batch', async () => {
  const prompt = { name: 'bounded', template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' };
  await stage.service.call('POST', '/prompts', { body: { ...prompt, parameters: { max_tokens: 1_000 } } });
  const run = { prompt_name: 'bounded', evaluators: [{ type: 'exact_match' }], max_cost: 0.01 };
  const { id } = await stage.runBatch({ ...run, examples: examplesOf('bounded', 50) });
  const [first, ...others] = await stage.rows(id);
  // Each can cost 0.0003 USD for its output, and a little for its input.
  expect(first?.items).toBeGreaterThan(25);
  expect(first?.items).toBeLessThan(34);
  expect(others.length).toBeGreaterThan(0);
  expect(await stage.read(id)).toMatchObject({ status: 'completed', examples_evaluated: 50 });
});

test('reusable responses are in no batch, and variables that do not fill the prompt fail', async () => {
  const examples = examplesOf('reused', 8);
  const evaluators = [{ type: 'exact_match' }];
  const first = await stage.runBatch({ examples: examples.slice(0, 5), evaluators });
  expect(first).toMatchObject({ status: 'completed' });
  const run = await stage.runBatch({ examples, evaluators, reuse: { max_age: 3600 } });
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: 8, examples_failed: 0 });
  expect(await stage.rows(run.id)).toMatchObject([{ items: 3, status: 'completed' }]);
});

test('a rescored run calls its judges in batches', async () => {
  const examples = examplesOf('rescored', 10);
  const source = await stage.run({ examples, evaluators: [{ type: 'exact_match' }] });
  const called = stage.openai.callCount;
  const evaluators = [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: RUBRIC }];
  const body = { evaluators, mode: 'batch' };
  const { status, body: again } = await stage.service.call('POST', `/evaluations/${source.id}/rescore`, { body });
  expect({ status, again }).toMatchObject({ status: 201 });
  const run = await stage.until(again.id, 'completed', 'failed');
  expect(run).toMatchObject({ status: 'completed', examples_evaluated: 10, examples_failed: 0 });
  expect(await stage.rows(run.id)).toMatchObject([{ wave: 'judgements', items: 10, status: 'completed' }]);
  expect(stage.openai.callCount).toBe(called);
  await stage.expectNothingLeft();
});
