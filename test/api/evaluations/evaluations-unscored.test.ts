import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EvaluationStage, startStage } from './evaluations-support.ts';

/** Judges grade 4 of 5, and respond without a grade if the output contains "odd". Other prompts are echoed. */
function answer({ prompt }: { prompt: string }) {
  if (!prompt.startsWith('You grade')) return { text: `Answer to: ${prompt}`, usage: { input: 10, output: 1 } };
  return {
    text: prompt.includes('odd') ? 'Lovely!' : '{"reason": "fine", "score": 4}',
    usage: { input: 20, output: 2 },
  };
}

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({ answer });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const JUDGE = { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is it kind?' };
const HAS_ONE = { type: 'contains', values: ['one'] };
const examples = (...texts: string[]) => texts.map((text) => ({ id: text.replace('odd ', ''), variables: { text } }));

test('an example that a judge could not score is in no mean, and is counted', async () => {
  const run = await stage.run({ examples: examples('one', 'two', 'odd three', 'four'), evaluators: [JUDGE, HAS_ONE] });
  expect(run).toMatchObject({
    score: 0.541667,
    scores_by_evaluator: { llm_judge: 0.75, contains: 0.25 },
    examples_evaluated: 4,
    examples_failed: 0,
    examples_unscored: 1,
    unscored_by_evaluator: { llm_judge: 1 },
    failures: [],
    passed: false,
  });
  const results = await stage.results(run.id);
  expect(results[2]).toMatchObject({
    status: 'scored',
    score: null,
    scores: { contains: { score: 0 } },
    unscored: { llm_judge: { reason: 'the judge gave no usable score: it has no JSON object: "Lovely!"' } },
  });
  expect(Object.keys(results[2].scores)).toEqual(['contains']);
  expect(results[0]).not.toHaveProperty('unscored');
  expect((await stage.results(run.id, '?max_score=0&evaluator=llm_judge')).length).toBe(0);
  const { body: summary } = await stage.service.call('GET', `/evaluations/${run.id}/results/summary`);
  expect(summary).toMatchObject({
    results: 4,
    scored: 3,
    unscored: 1,
    score: run.score,
    by_evaluator: run.scores_by_evaluator,
    unscored_by_evaluator: { llm_judge: 1, contains: 0 },
  });
  const { body: csv } = await stage.service.call('GET', `/evaluations/${run.id}/results?format=csv`);
  expect(csv).toMatch(/^three,scored,,/m);
});

test('a judge is called once more with the error in its answer', async () => {
  const before = stage.openai.calls.length;
  await stage.run({ examples: examples('odd one'), evaluators: [JUDGE] });
  const asked = stage.openai.calls.slice(before).map(({ prompt }) => prompt.includes('could not be used'));
  expect(asked).toEqual([false, false, true]);
});

test('a run without any score has not passed', async () => {
  const run = await stage.run({ examples: examples('odd one', 'odd two'), evaluators: [JUDGE], threshold: 0 });
  expect(run).toMatchObject({
    status: 'completed',
    score: null,
    scores_by_evaluator: {},
    passed: false,
    examples_unscored: 2,
    regressions: 0,
  });
  const events = (await stage.events()).filter(({ data }) => data['evaluation_id'] === run.id);
  expect(events.map(({ type }) => type)).toEqual(['evaluation.completed', 'evaluation.regression']);
  const { body } = await stage.service.call('GET', '/prompts/say/series');
  expect(JSON.stringify(body)).not.toContain(run.id);
});

test('an example without a score is neither worse nor better, and the comparison leaves it out', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const evaluators = [JUDGE, HAS_ONE];
  const before = await stage.run({ examples: examples(...names), evaluators });
  const odd = examples('odd n0', ...names.slice(1));
  const after = await stage.run({ examples: odd, evaluators, baseline: before.id });
  expect(after).toMatchObject({ regressions: 0, improvements: 0, examples_unscored: 1 });
  expect((await stage.results(after.id))[0]).toMatchObject({ baseline_score: before.score, regression: null });
  const compare = async (a: string, b: string, query = '') =>
    (await stage.service.call('GET', `/evaluations/${b}/compare/${a}${query}`)).body;
  expect(await compare(before.id, after.id)).toMatchObject({
    examples_compared: 19,
    examples_unscored: 1,
    verdict: 'no_change',
    withheld: null,
    note: expect.stringContaining('Left out, without a score in one of the runs: 1.'),
    by_evaluator: [
      { name: 'llm_judge', score_a: 0.75, score_b: 0.75, unchanged: 19 },
      { name: 'contains', unchanged: 19 },
    ],
  });
  expect(await compare(before.id, after.id, '?evaluator=contains')).toMatchObject({
    examples_compared: 20,
    examples_unscored: 0,
    by_evaluator: [
      { name: 'llm_judge', score_b: 0.75, unchanged: 19 },
      { name: 'contains', unchanged: 20 },
    ],
  });
  const other = await stage.run({ examples: odd, evaluators: [JUDGE], baseline: before.id });
  expect(other).toMatchObject({ regressions: 0, improvements: 0 });
  expect(await compare(before.id, other.id)).toMatchObject({ examples_compared: 19, score_a: 0.75, score_b: 0.75 });
});

test('no verdict is given if more than a tenth has no score', async () => {
  const before = await stage.run({ examples: examples('one', 'two', 'three', 'four'), evaluators: [JUDGE] });
  const after = await stage.run({
    examples: examples('odd one', 'two', 'three', 'four'),
    evaluators: [JUDGE],
    baseline: before.id,
  });
  const { body } = await stage.service.call('GET', `/evaluations/${after.id}/compare/${before.id}`);
  expect(body).toMatchObject({ withheld: 'failures', verdict: 'too_few_differences', examples_compared: 3 });
});

test('the record says why examples failed, and failed ones count 0 in every mean', async () => {
  stage.openai.behave({ mode: 'fail', status: 400, times: 2 });
  const run = await stage.run({
    examples: examples('one', 'two', 'three', 'four', 'five', 'one six'),
    evaluators: [HAS_ONE, { type: 'length', at_least: 1 }],
    concurrency: 1,
  });
  expect(run).toMatchObject({
    examples_failed: 2,
    examples_unscored: 0,
    failures: [{ code: 'model_invalid_request', count: 2, message: expect.any(String) }],
    scores_by_evaluator: { contains: 0.166667, length: 0.666667 },
    score: 0.416667,
  });
  const { body } = await stage.service.call('GET', `/evaluations/${run.id}/results/summary`);
  expect(body).toMatchObject({ scored: 6, score: run.score, by_evaluator: run.scores_by_evaluator });
  const { body: contains } = await stage.service.call(
    'GET',
    `/evaluations/${run.id}/results/summary?evaluator=contains`,
  );
  expect(contains).toMatchObject({ scored: 6, score: run.scores_by_evaluator.contains });
  const { body: page } = await stage.service.call('GET', '/evaluations?limit=1');
  expect(page.data[0].failures).toEqual(run.failures);
});

test('comparisons of an earlier version with other evaluators are not shown', async () => {
  const given = examples('one', 'two');
  const before = await stage.run({ examples: given, evaluators: [HAS_ONE] });
  const same = await stage.run({ examples: given, evaluators: [HAS_ONE], baseline: before.id });
  const other = await stage.run({
    examples: given,
    evaluators: [HAS_ONE, { type: 'length', at_least: 1 }],
    baseline: before.id,
  });
  const ids = [same, other].map(({ id }) => `'${id.slice('eval_'.length)}'`).join();
  const { system } = stage.service.dependencies.db;
  await system.query({
    text: `update evaluations set summary = summary - 'unscored', regressions = 2, improvements = 0 where id in (${ids})`,
  });
  await system.query({
    text: `update evaluation_results set regression = true, improvement = false, baseline_score = 0 where evaluation_id in (${ids})`,
  });
  expect(await stage.read(same.id)).toMatchObject({ baseline_id: before.id, regressions: 2 });
  expect(await stage.results(same.id, '?regression=true')).toMatchObject([{ regression: true }, { regression: true }]);
  expect(await stage.read(other.id)).toMatchObject({ baseline_id: null, regressions: null, improvements: null });
  const results = await stage.results(other.id);
  expect(results[0]).toMatchObject({ regression: null, improvement: null, baseline_score: null });
  expect(await stage.results(other.id, '?regression=true')).toEqual([]);
  const { body } = await stage.service.call('GET', `/evaluations/${other.id}/compare/${before.id}`);
  expect(body).toMatchObject({ verdict: 'no_change', left_out_evaluators: [{ name: 'length' }] });
});

test('failure reasons of runs summarized before they were kept are read from the results', async () => {
  stage.openai.behave({ mode: 'fail', status: 400, times: 1 });
  const run = await stage.run({ examples: examples('one'), evaluators: [HAS_ONE] });
  expect(run.failures).toHaveLength(1);
  await stage.service.dependencies.db.system.query({
    text: `update evaluations set summary = summary - 'failures' where id = '${run.id.slice('eval_'.length)}'`,
  });
  expect((await stage.read(run.id)).failures).toEqual(run.failures);
});
