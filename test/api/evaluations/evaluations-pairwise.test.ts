import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestService } from '../../support/service.ts';
import { type EvaluationStage, startStage } from './evaluations-support.ts';

/** The two compared outputs, in the order of the judge's prompt. */
function outputsIn(prompt: string): string[] {
  const fence = /<(compared-\w+)>/.exec(prompt)?.[1];
  return ['First', 'Second'].map((nth) => {
    const from = prompt.indexOf(`${nth} output:\n<${fence}>\n`) + `${nth} output:\n<${fence}>\n`.length;
    return prompt.slice(from, prompt.indexOf(`\n</${fence}>`, from));
  });
}

let judge: (outputs: string[], prompt: string) => string;
const says = (category: string) => JSON.stringify({ reason: 'Because.', category });
const longer = ([first = '', second = '']: string[]) =>
  says(first.length === second.length ? 'tie' : first.length > second.length ? 'first' : 'second');

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({
    answer: ({ prompt }) => ({
      text: prompt.startsWith('You compare two outputs') ? judge(outputsIn(prompt), prompt) : prompt,
      usage: { input: 20, output: 2 },
    }),
  });
  await stage.prompt('short', '{{ text }}');
  await stage.prompt('long', '{{ text }}, and more');
});
afterAll(() => stage?.stop());
beforeEach(() => {
  judge = longer;
});

const JUDGE = { type: 'pairwise', model: 'openai/gpt-4o-mini', rubric: 'The longer one is better.' };
const examples = Array.from({ length: 8 }, (_, index) => ({
  id: `e${index}`,
  variables: { text: `text ${index}` },
  expected: `text ${index}!`,
}));
const EXACT = { type: 'exact_match' };

describe('a judge that compares with the outputs of another evaluation', () => {
  test('calls the model twice for each example, and counts the usage', async () => {
    const before = await stage.run({ prompt_name: 'short', examples, evaluators: [EXACT] });
    const calls = stage.openai.calls.length;
    const run = await stage.run({ prompt_name: 'long', examples, evaluators: [{ ...JUDGE, against: before.id }] });
    expect(run).toMatchObject({
      status: 'completed',
      score: 1,
      scores_by_evaluator: { pairwise: 1 },
      examples_failed: 0,
    });
    expect(run.judge.tokens).toMatchObject({ input: 8 * 2 * 20, output: 8 * 2 * 2 });
    expect(stage.openai.calls.length - calls).toBe(8 * 3);
    const results = await stage.results(run.id);
    expect(results[0].scores.pairwise).toEqual({ score: 1, reason: 'this output is better in both orders: Because.' });

    const { body } = await stage.service.call('GET', `/evaluations/${run.id}/compare/${before.id}`);
    expect(body.preferences).toEqual([
      {
        source: 'evaluator',
        evaluator: 'pairwise',
        examples: 8,
        preferred: 8,
        other_preferred: 0,
        ties: 0,
        share: 1,
        interval: { low: expect.any(Number), high: 1 },
        p_value: expect.any(Number),
        verdict: 'preferred',
      },
    ]);
    expect(body.preferences[0].interval.low).toBeGreaterThan(0.5);
    // The runs have no evaluator in common, but one of them has compared both.
    expect(body).toMatchObject({
      comparable: false,
      note: expect.stringContaining('By "pairwise", b is better in 8 of 8'),
    });
  });

  test('an existing run can be compared without running it again', async () => {
    const before = await stage.run({ prompt_name: 'long', examples, evaluators: [EXACT] });
    const after = await stage.run({ prompt_name: 'short', examples, evaluators: [EXACT] });
    const { status, body } = await stage.service.call('POST', `/evaluations/${after.id}/rescore`, {
      body: { evaluators: [{ ...JUDGE, against: before.id }] },
    });
    expect([status, body]).toEqual([201, expect.anything()]);
    expect(await stage.until(body.id, 'completed')).toMatchObject({ score: 0 });
    const { body: comparison } = await stage.service.call('GET', `/evaluations/${body.id}/compare/${before.id}`);
    expect(comparison.preferences).toMatchObject([{ other_preferred: 8, verdict: 'other_preferred' }]);
    const { body: others } = await stage.service.call('GET', `/evaluations/${body.id}/compare/${after.id}`);
    expect(others).not.toHaveProperty('preferences');
  });

  test('a judge that always names the first one finds no difference', async () => {
    judge = () => says('first');
    const before = await stage.run({ prompt_name: 'short', examples, evaluators: [EXACT] });
    const run = await stage.run({ prompt_name: 'long', examples, evaluators: [{ ...JUDGE, against: before.id }] });
    expect(run.score).toBe(0.5);
    const { body } = await stage.service.call('GET', `/evaluations/${run.id}/compare/${before.id}`);
    expect(body.preferences).toMatchObject([{ ties: 8, share: 0.5, p_value: 1, verdict: 'too_few_differences' }]);
    const results = await stage.results(run.id);
    expect(results[0].scores.pairwise.reason).toBe('a tie: the judge preferred the first output in both orders');
  });

  test('equal outputs take no call, and an example without the other output has no score', async () => {
    const odd = [...examples.slice(0, 2), { id: 'odd', variables: { other: 'x' } }];
    const upload = await stage.service.call('PUT', '/datasets/pairs', {
      raw: odd.map((example) => JSON.stringify(example)).join('\n'),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect(upload.status).toBeLessThan(300);
    const dataset = { name: 'pairs' };
    const before = await stage.run({ prompt_name: 'short', dataset, evaluators: [EXACT] });
    expect(before.examples_failed).toBe(1);
    await stage.prompt('none', 'text 0');
    const calls = stage.openai.calls.length;
    const run = await stage.run({ prompt_name: 'none', dataset, evaluators: [{ ...JUDGE, against: before.id }] });
    // Three outputs, and one pair that differs.
    expect(stage.openai.calls.length - calls).toBe(3 + 2);
    expect(run).toMatchObject({ examples_unscored: 1, unscored_by_evaluator: { pairwise: 1 } });
    const results = await stage.results(run.id);
    expect(results[0].scores.pairwise).toEqual({ score: 0.5, reason: 'both outputs are the same' });
    expect(results[2].unscored.pairwise.reason).toContain('no output for this example');
  });

  test.each([
    [
      'another workspace',
      async () => {
        const other = await startTestService({}, { workers: false });
        await other.call('POST', '/prompts', { body: { name: 'p', template: 'x', model: 'sandbox/echo' } });
        const { body } = await other.call('POST', '/evaluations', {
          body: { prompt_name: 'p', examples: [{ variables: {} }] },
        });
        await other.stop();
        return body.id;
      },
      'is not an evaluation of this workspace',
    ],
    [
      'other examples',
      async () => (await stage.run({ prompt_name: 'short', examples: examples.slice(1), evaluators: [EXACT] })).id,
      'must have the same examples',
    ],
    [
      'a run that has not ended',
      async () => {
        const id = await stage.begin({
          prompt_name: 'short',
          examples,
          evaluators: [EXACT],
          start_at: '2099-01-01T00:00:00Z',
        });
        return id;
      },
      'must have completed',
    ],
  ])('is refused for %s', async (_what, other, message) => {
    const against = await other();
    expect(
      await stage.create({ prompt_name: 'long', examples, evaluators: [EXACT, { ...JUDGE, against }] }),
    ).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'evaluators.1.against', message: expect.stringContaining(message) }] } },
    });
  });
});

describe('a judge that compares with the expected values', () => {
  test('scores an evaluation', async () => {
    const run = await stage.run({ prompt_name: 'long', examples, evaluators: [JUDGE] });
    expect(run).toMatchObject({ status: 'completed', score: 1 });
  });

  test('is called once more in the order whose answer could not be used', async () => {
    judge = (outputs, prompt) => (prompt.includes('could not be used') ? longer(outputs) : 'Hm.');
    const one = examples.slice(0, 1);
    const calls = stage.openai.calls.length;
    const run = await stage.run({ prompt_name: 'long', examples: one, evaluators: [JUDGE] });
    expect([run.score, stage.openai.calls.length - calls]).toEqual([1, 5]);
    judge = (outputs) => (outputs[0]?.endsWith('!') ? 'Hm.' : longer(outputs));
    const failed = await stage.run({ prompt_name: 'long', examples: one, evaluators: [JUDGE] });
    expect(failed).toMatchObject({ score: null, examples_unscored: 1, unscored_by_evaluator: { pairwise: 1 } });
  });

  test('is estimated as two calls for each example', async () => {
    const { body } = await stage.service.call('POST', '/evaluations/estimate', {
      body: { prompt_name: 'long', examples, evaluators: [JUDGE] },
    });
    expect(body).toMatchObject({
      model_calls: 8,
      judge_calls: 16,
      basis: expect.stringContaining('two calls for each example'),
    });
  });

  test('does not score executions', async () => {
    const rule = { prompt_name: 'long', evaluators: [JUDGE] };
    const { status, body } = await stage.service.call('PUT', '/rules/pairs', { body: rule });
    expect([status, body.error.details[0].path]).toEqual([400, 'evaluators.0']);
    const tried = await stage.service.call('POST', '/evaluators/try', {
      body: { evaluators: [JUDGE], output: 'x', expected: 'y' },
    });
    expect([tried.status, tried.body.error.details[0].path]).toEqual([400, 'evaluators.0.type']);
  });
});
