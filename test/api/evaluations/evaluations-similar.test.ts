import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type EvaluationStage, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage();
  await stage.prompt('echo', '{{ text }}', 'sandbox/echo');
});
afterAll(() => stage?.stop());

const examplesOf = (...pairs: [text: string, expected: string][]) =>
  pairs.map(([text, expected], index) => ({ id: `e${index}`, variables: { text }, expected }));

describe('an evaluation by embeddings', () => {
  test('calls its model once for an example, and counts the usage', async () => {
    const run = await stage.run({
      prompt_name: 'echo',
      examples: examplesOf(['the cat sat', 'The cat sat.'], ['a dog', 'the cat'], ['', 'the cat']),
      evaluators: [{ type: 'similar', model: 'sandbox/echo' }],
    });
    expect(run).toMatchObject({ status: 'completed', score: 0.333333, examples_failed: 0 });
    expect(run.judge).toMatchObject({ cost: { amount: '0' }, tokens: { output: 0 } });
    expect(run.judge.tokens.input).toBeGreaterThan(0);
    const results = await stage.results(run.id);
    expect(results.map(({ scores }: { scores: object }) => scores)).toEqual(
      expect.arrayContaining([
        { similar: { score: 1, reason: null } },
        { similar: { score: 0, reason: 'the similarity is 0.000' } },
        { similar: { score: 0, reason: 'the output is empty' } },
      ]),
    );
  });

  test('is refused if the provider of its model has none', async () => {
    const body = {
      prompt_name: 'echo',
      examples: examplesOf(['a', 'a']),
      evaluators: [{ type: 'similar', model: 'anthropic/claude-haiku-4-5' }],
    };
    expect(await stage.create(body)).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'evaluators.0.model' }] } },
    });
  });

  test('is estimated from what it embeds', async () => {
    const { status, body } = await stage.service.call('POST', '/evaluations/estimate', {
      body: {
        prompt_name: 'echo',
        examples: examplesOf(['a', 'a']),
        evaluators: [{ type: 'similar', model: 'openai/text-embedding-3-small' }],
      },
    });
    expect([status, body.judge_calls]).toEqual([200, 1]);
    expect(Number(body.cost.amount ?? body.cost)).toBeGreaterThan(0);
  });

  test('fails an example without embeddings', async () => {
    const run = await stage.run({
      prompt_name: 'echo',
      examples: examplesOf(['a', 'a']),
      evaluators: [{ type: 'similar', model: 'sandbox/fail-400' }],
    });
    expect(run).toMatchObject({ status: 'completed', examples_failed: 1, score: 0 });
  });
});

describe('a threshold for each example', () => {
  const request = {
    prompt_name: 'echo',
    examples: examplesOf(['yes', 'yes'], ['yes and more', 'yes'], ['no', 'yes']),
    evaluators: [{ type: 'contains', weight: 3 }, { type: 'exact_match' }],
    threshold: 0.6,
  };

  test('makes its score 1 or 0, and the share of passes the score', async () => {
    const run = await stage.run({ ...request, example_threshold: 0.75 });
    expect(run).toMatchObject({ example_threshold: 0.75, score: 0.666667, passed: true });
    // The evaluators' own scores do not change.
    expect(run.scores_by_evaluator).toEqual({ contains: 0.666667, exact_match: 0.333333 });
    const stricter = await stage.run({ ...request, example_threshold: 0.76 });
    expect(stricter).toMatchObject({ score: 0.333333, passed: false });
    const { body } = await stage.control(run.id, 'rescore', {});
    expect(await stage.until(body.id, 'completed')).toMatchObject({ example_threshold: 0.75, score: 0.666667 });
  });

  test('is unset by default', async () => {
    expect(await stage.run(request)).toMatchObject({ example_threshold: null, score: 0.583333 });
  });
});
