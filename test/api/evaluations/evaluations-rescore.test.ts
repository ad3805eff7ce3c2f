import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const USAGE = { input: 1_000, output: 1_000 };
const CALL_USD = '0.00075';
const JUDGE = { type: 'llm_judge', name: 'judge', model: 'openai/gpt-4o-mini', rubric: 'Is it kind?' };

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({
    answer: ({ prompt }) => {
      if (prompt.startsWith('You grade')) return { text: JSON.stringify({ reason: 'fine', score: 5 }), usage: USAGE };
      return { text: `Answer to: ${prompt}`, usage: USAGE };
    },
  });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

async function rescore(id: string, body: object) {
  const answer = await stage.control(id, 'rescore', body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return stage.until(answer.body.id, 'completed', 'failed', 'paused');
}

test('a run is rescored with other evaluators, without a call to its model', async () => {
  const source = await stage.run({ examples: examplesOf('again', 8) });
  const before = stage.openai.callCount;
  const run = await rescore(source.id, {
    evaluators: [
      { type: 'contains', value: 'Answer' },
      { type: 'cost', at_most_usd: 0.0001 },
      { type: 'latency', at_most_ms: 3_600_000 },
    ],
    threshold: 0.5,
  });
  expect(stage.openai.callCount).toBe(before);
  expect(run).toMatchObject({
    status: 'completed',
    source_evaluation_id: source.id,
    prompt_version: source.prompt_version,
    threshold: 0.5,
    scores_by_evaluator: { contains: 1, cost: 0, latency: 1 },
    passed: true,
    examples_evaluated: 8,
    examples_failed: 0,
    tokens: { total: 0 },
    cost: { amount: '0' },
  });
  const of = (rows: { example_id: string; output: string; model: string }[]) =>
    rows.map(({ example_id, output, model }) => [example_id, output, model]);
  const results = await stage.results(run.id);
  expect(of(results)).toEqual(of(await stage.results(source.id)));
  expect(results[0]).toMatchObject({ attempts: 0, cost: { amount: '0' } });
});

test('only judges cost, within their own budget, and no usage counts twice', async () => {
  const source = await stage.run({ examples: examplesOf('judged', 4), concurrency: 1 });
  const usage = async () => (await stage.service.call('GET', '/usage?group_by=')).body.evaluations[0];
  const before = await usage();
  const run = await rescore(source.id, { evaluators: [JUDGE], max_cost: 1 });
  expect(run).toMatchObject({ score: 1, judge: { cost: { amount: '0.003' } }, cost: { amount: '0.003' } });
  const after = await usage();
  expect([after.examples - before.examples, after.judgements - before.judgements]).toEqual([0, 4]);
  const small = await rescore(source.id, { evaluators: [JUDGE], max_cost: CALL_USD });
  expect(small).toMatchObject({ status: 'paused', judge: { cost: { amount: CALL_USD } } });
  await stage.control(small.id, 'cancel');
});

test('an example without output fails again, and a retry calls no model either', async () => {
  stage.openai.behave({ mode: 'fail', status: 400, matching: 'broken 1' });
  const source = await stage.run({ examples: examplesOf('broken', 3) });
  expect(source.examples_failed).toBe(1);
  stage.openai.behave();
  const before = stage.openai.callCount;
  const run = await rescore(source.id, {});
  expect(run).toMatchObject({
    score: source.score,
    evaluators: source.evaluators,
    threshold: source.threshold,
    examples_failed: 1,
  });
  expect(await stage.results(run.id, '?failed=true')).toMatchObject([{ error: { code: 'model_invalid_request' } }]);
  await stage.control(run.id, 'retry');
  expect(await stage.until(run.id, 'completed')).toMatchObject({ examples_failed: 1, retries: 1 });
  expect(await stage.results(run.id, '?failed=true')).toMatchObject([{ error: { code: 'no_output' } }]);
  expect(stage.openai.callCount).toBe(before);
});

test('a rescored run can be rescored, and outlives its source', async () => {
  const source = await stage.run({ examples: examplesOf('chain', 3) });
  const second = await rescore(source.id, { evaluators: [{ type: 'json_valid' }] });
  expect((await stage.service.call('DELETE', `/evaluations/${source.id}`)).status).toBe(200);
  const third = await rescore(second.id, { evaluators: [{ type: 'cost', at_most_usd: 0.1 }] });
  expect(third).toMatchObject({ score: 1, source_evaluation_id: second.id, examples_failed: 0 });
});

test('only completed runs of this workspace can be, with usable evaluators', async () => {
  const id = await stage.begin({ examples: examplesOf('later', 1), start_at: '2099-01-01T00:00:00Z' });
  expect(await stage.control(id, 'rescore', {})).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_state' } },
  });
  await stage.control(id, 'cancel');
  const done = await stage.run({ examples: examplesOf('done', 1) });
  const bad = await stage.control(done.id, 'rescore', { evaluators: [{ type: 'regex', pattern: '(' }] });
  expect(bad).toMatchObject({ status: 400, body: { error: { details: [{ path: 'evaluators.0.pattern' }] } } });
  const other = await createOtherWorkspace(stage.service, 'other');
  const theirs = await other.call('POST', `/evaluations/${done.id}/rescore`, { body: {} });
  expect(theirs.status).toBe(404);
});
