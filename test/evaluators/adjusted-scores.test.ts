import { describe, expect, test } from '@jest/globals';
import { EvaluatorList, prepareEvaluator } from '../../src/evaluators/registry.ts';
import { endpointOf, exampleOf, faultsOf, judgeOf, scorerOf } from './evaluate.ts';

describe('threshold', () => {
  test('makes a score 1 or 0', () => {
    const score = scorerOf({ type: 'levenshtein', threshold: 0.8 });
    expect(score('abcd', 'abcde')).toMatchObject({ score: 1, problem: null });
    expect(score('abc', 'abcde')).toEqual({
      score: 0,
      reason: 'the score of 0.6 is below 0.8: 2 of 5 characters differ',
      problem: null,
    });
  });

  test('ignores unscored examples', () => {
    expect(scorerOf({ type: 'levenshtein', threshold: 0 })('abc')).toMatchObject({
      score: 0,
      problem: 'missing_expected',
    });
  });

  test.each([-0.1, 1.1, '0.5'])('cannot be %j', (threshold) => {
    expect(faultsOf([{ type: 'levenshtein', threshold }])).toEqual([expect.stringMatching(/^0\.threshold: /)]);
  });

  test('covers judges and scorers of the caller', () => {
    const judge = judgeOf({ type: 'llm_judge', model: 'm', rubric: 'r', scale: { min: 0, max: 10 }, threshold: 0.7 });
    const verdict = (score: number) => judge.read(JSON.stringify({ reason: 'so', score }));
    expect(verdict(7)).toMatchObject({ usable: true, score: { score: 1, reason: 'so' } });
    expect(verdict(6)).toMatchObject({
      usable: true,
      score: { score: 0, reason: 'the score of 0.6 is below 0.7: so' },
    });
    expect(verdict(60)).toMatchObject({ usable: false });
    const endpoint = endpointOf({ type: 'http', url: 'https://example.com/', threshold: 0.5, negate: true });
    expect(endpoint.read('{"score": 0.5}')).toMatchObject({ score: 0 });
    expect(endpoint.read('{"score": 0.4}')).toMatchObject({ score: 1 });
    expect(endpoint.read('{}')).toMatchObject({ score: 0, problem: 'unusable_response' });
  });
});

describe('negate', () => {
  test('is the opposite', () => {
    const score = scorerOf({ type: 'contains', value: 'lawyer', negate: true });
    expect(score('ask your doctor')).toEqual({ score: 1, reason: null, problem: null });
    expect(score('ask your lawyer')).toEqual({
      score: 0,
      reason: 'the condition is met, but must not be',
      problem: null,
    });
  });

  test('comes after the threshold', () => {
    const score = scorerOf({ type: 'levenshtein', negate: true, threshold: 0.8 });
    expect(score('abcd', 'abcde')).toMatchObject({ score: 0 });
    expect(score('abc', 'abcde')).toMatchObject({ score: 1 });
    expect(scorerOf({ type: 'levenshtein', negate: true })('abcd', 'abcde')).toMatchObject({ score: 0.2 });
  });

  test('ignores unscored examples', () => {
    expect(scorerOf({ type: 'contains', negate: true })('abc')).toMatchObject({
      score: 0,
      problem: 'missing_expected',
    });
  });
});

describe('length', () => {
  test.each<[object, string, number]>([
    [{ at_most: 3 }, 'abc', 1],
    [{ at_most: 3 }, 'abcd', 0],
    [{ at_most: 2 }, '😀', 1],
    [{ at_least: 1 }, '', 0],
    [{ at_least: 2, at_most: 3, unit: 'words' }, ' one\n two\tthree ', 1],
    [{ at_least: 2, unit: 'words' }, 'one', 0],
    [{ at_most: 0, unit: 'words' }, '  \n', 1],
  ])('%j of %j is %d', (options, output, score) => {
    expect(scorerOf({ type: 'length', ...options })(output)).toMatchObject({ score, problem: null });
  });

  test('reports the length', () => {
    expect(scorerOf({ type: 'length', at_least: 2, unit: 'words' })('one').reason).toBe(
      'the output has 1 words, fewer than 2',
    );
  });

  test('needs a limit that is possible', () => {
    expect(faultsOf([{ type: 'length' }])).toEqual(['0.at_most: give at_least, at_most or both']);
    expect(faultsOf([{ type: 'length', at_least: 3, at_most: 2 }])).toEqual(['0.at_most: must not be below at_least']);
  });
});

describe('similar', () => {
  function comparisonOf(options: object) {
    const [config] = EvaluatorList.parse([{ type: 'similar', model: 'm', ...options }]);
    const evaluator = config && prepareEvaluator(config);
    if (evaluator?.kind !== 'embedding') throw new Error('not an evaluator that embeds');
    return evaluator;
  }

  test('compares the output with the expected value, or with texts', () => {
    const example = exampleOf('Hello', { expected: 'Hi' });
    expect(comparisonOf({}).request(example)).toEqual({ text: 'Hello', others: ['Hi'] });
    expect(comparisonOf({ values: ['a', 'b'] }).request(example)).toEqual({ text: 'Hello', others: ['a', 'b'] });
  });

  test.each<[string, Parameters<typeof exampleOf>, object]>([
    ['nothing is expected', ['Hello'], { score: 0, problem: 'missing_expected' }],
    ['an empty text is expected', ['Hello', { expected: ' ' }], { score: 0, problem: 'missing_expected' }],
    ['the output is empty', [' \n', { expected: 'Hi' }], { score: 0, problem: null, reason: 'the output is empty' }],
    ['the output is too long', ['x'.repeat(30_001), { expected: 'Hi' }], { score: 0, problem: 'too_large' }],
  ])('makes no call if %s', (_, example, score) => {
    expect(comparisonOf({}).request(exampleOf(...example))).toMatchObject(score);
  });

  test('scores by the most similar text; an opposite one counts 0', () => {
    const { read } = comparisonOf({});
    expect(read('[0.25, 0.75]')).toEqual({
      usable: true,
      score: { score: 0.75, reason: 'the similarity is 0.750', problem: null },
    });
    expect(read('[-0.3]')).toMatchObject({ usable: true, score: { score: 0 } });
    expect(read('[]')).toMatchObject({ usable: false });
    expect(comparisonOf({ threshold: 0.75 }).read('[0.76]')).toMatchObject({ score: { score: 1 } });
    expect(comparisonOf({ threshold: 0.75, negate: true }).read('[0.76]')).toMatchObject({ score: { score: 0 } });
  });
});
