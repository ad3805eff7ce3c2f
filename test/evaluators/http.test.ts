import { describe, expect, test } from '@jest/globals';
import { ScoringError } from '../../src/evaluators/evaluator.ts';
import { EvaluatorList } from '../../src/evaluators/registry.ts';
import { endpointOf, exampleOf, faultsOf } from './evaluate.ts';

const URL = 'https://example.com/score?team=a';

describe('the options', () => {
  test('have defaults', () => {
    expect(EvaluatorList.parse([{ type: 'http', url: URL }])).toEqual([
      { type: 'http', name: 'http', weight: 1, url: URL, timeout_ms: 10_000 },
    ]);
  });

  test.each([
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'url'],
    [{ url: 'https://example.com/a b' }, 'url'],
    [{ url: 'https://example.com/\n' }, 'url'],
    [{ url: URL, secret: 'x'.repeat(23) }, 'secret'],
    [{ url: URL, secret: 'x'.repeat(129) }, 'secret'],
    [{ url: URL, secret: 'a secret with spaces in it' }, 'secret'],
    [{ url: URL, secret: 'whsec_this-is-not-base64!' }, 'secret'],
    [{ url: URL, secret: null }, 'secret'],
    [{ url: URL, timeout_ms: 99 }, 'timeout_ms'],
    [{ url: URL, timeout_ms: 60_001 }, 'timeout_ms'],
    [{ url: URL, timeout_ms: '1000' }, 'timeout_ms'],
  ])('%j are refused by name', (options, field) => {
    expect(faultsOf([{ type: 'http', ...options }])).toEqual([expect.stringMatching(new RegExp(`^0\\.${field}: `))]);
  });

  test('are refused without the secret in the message', () => {
    const secret = 'this-secret-has-a-space in-it';
    expect(faultsOf([{ type: 'http', url: URL, secret }]).join()).not.toContain(secret);
    expect(faultsOf([{ type: 'http', url: URL, secret: 'x'.repeat(24), headers: {} }])).toEqual([
      expect.stringContaining('headers'),
    ]);
  });
});

describe('the request', () => {
  const endpoint = endpointOf({ type: 'http', url: URL });
  const bodyOf = (...example: Parameters<typeof exampleOf>) => JSON.parse(endpoint.request(exampleOf(...example)));

  test('has the example', () => {
    expect(bodyOf('Paris', { expected: { city: 'Paris' }, variables: { country: 'France' } })).toEqual({
      input: 'the prompt',
      output: 'Paris',
      expected: { city: 'Paris' },
      variables: { country: 'France' },
    });
  });

  test('has null if nothing is expected, and tool calls if there are any', () => {
    const toolCalls = [{ id: 'call_1', name: 'look_up', input: { city: 'Paris' } }];
    expect(bodyOf('', { toolCalls })).toEqual({
      input: 'the prompt',
      output: '',
      expected: null,
      variables: {},
      tool_calls: toolCalls,
    });
  });

  test('is not made of too deeply nested values', () => {
    const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
    for (const example of [{ expected: deep }, { variables: { deep } }])
      expect(() => bodyOf('x', example)).toThrow(ScoringError);
  });
});

describe('a response', () => {
  const { read } = endpointOf({ type: 'http', url: URL });

  test.each<[string, number, string | null]>([
    ['{"score": 1}', 1, null],
    ['{"score": 0, "reason": null}', 0, null],
    [' {"reason": "half of it", "score": 0.5, "details": [1]}\n', 0.5, 'half of it'],
    ['{"score": 0.12345678, "reason": ""}', 0.123457, ''],
    [JSON.stringify({ score: 1, reason: 'é'.repeat(500) }), 1, 'é'.repeat(500)],
    [JSON.stringify({ score: 0, reason: 'NUL \0 and \uD800' }), 0, 'NUL \uFFFD and \uFFFD'],
  ])('%s is a score', (response, score, reason) => {
    expect(read(response)).toEqual({ score, reason, problem: null });
  });

  test.each([
    ['', 'it is empty'],
    ['  \n', 'it is empty'],
    ['OK', 'it is not JSON: '],
    ['<html>', 'it is not JSON: '],
    ['1', 'it is not an object with a score: "1"'],
    ['null', 'it is not an object with a score: "null"'],
    ['[{"score": 1}]', 'it is not an object with a score: '],
    ['{"Score": 1}', 'it has no score'],
    ['{"score": null}', 'its score "null" is not a number'],
    ['{"score": "1"}', 'is not a number'],
    ['{"score": true}', 'its score "true" is not a number'],
    ['{"score": 1.01}', 'its score 1.01 is not between 0 and 1'],
    ['{"score": -0.1}', 'its score -0.1 is not between 0 and 1'],
    ['{"score": 85}', 'its score 85 is not between 0 and 1'],
    ['{"score": 1e999}', 'it is JSON, but not a JSON value'],
    ['{"score": 1, "reason": 7}', 'its reason is not a string'],
    [JSON.stringify({ score: 1, reason: 'x'.repeat(501) }), 'its reason has 501 characters, more than 500'],
    [`{"score": 1, "deep": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'it is JSON, but nested more than 200 levels'],
    [`{"score": 1, "pad": "${'x'.repeat(65_536)}"}`, 'it is longer than the 65536 bytes that are read'],
  ])('%s is invalid, with a reason', (response, reason) => {
    expect(read(response)).toEqual({
      score: 0,
      reason: expect.stringContaining(`the response of the scorer is invalid: `),
      problem: 'unusable_response',
    });
    expect(read(response).reason).toContain(reason);
  });

  test('always has a reason that PostgreSQL accepts', () => {
    for (const response of [
      '\0',
      '\uD800',
      '{"score": "\\ud800\\u0000"}',
      '{"__proto__": {"score": 1}}',
      '"\0'.repeat(99),
    ]) {
      const { reason } = read(response);
      expect(reason?.length).toBeLessThanOrEqual(500);
      expect(reason).not.toContain('\0');
      expect(reason?.isWellFormed()).toBe(true);
    }
  });
});
