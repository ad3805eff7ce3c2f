import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EvaluatorList } from '../../src/evaluators/registry.ts';
import { createEvaluatorPool, type EvaluatorPool, type Scorer } from '../../src/evaluators/threads/evaluator-pool.ts';

let pool: EvaluatorPool;

beforeAll(() => {
  pool = createEvaluatorPool({ onError() {} });
});

afterAll(() => pool.close());

const scorerOf = (evaluators: object[], workspace = 'w'): Scorer =>
  pool.scorer(workspace, EvaluatorList.parse(evaluators));
const check = (evaluators: object[], workspace = 'w') =>
  pool.check(workspace, EvaluatorList.parse(evaluators), (index) => `evaluators.${index}`);

/** Takes 900 steps for each character. */
const SLOW_PATTERN = '(a|b)*a(a|b){900}[cd]';

function randomText(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 20) % 2 === 0 ? 'a' : 'b';
  }).join('');
}

/** A schema that takes exponential time for nested lists. */
const BRANCH = { items: { $ref: '#/$defs/n' }, type: 'array' };
const EXPONENTIAL = { $defs: { n: { anyOf: [BRANCH, BRANCH] } }, $ref: '#/$defs/n' };

describe('scoring', () => {
  test('gives every evaluator its score, in a thread or not', async () => {
    const evaluators = [
      { type: 'exact_match' },
      { type: 'regex', pattern: '^\\w+$' },
      { type: 'json_schema', schema: { type: 'object' } },
      { type: 'json_match', value: 'other', mode: 'subset' },
      { type: 'llm_judge', model: 'm', rubric: 'r' },
    ];
    const scores = await scorerOf(evaluators).score({ output: 'Paris', expected: 'Paris' });
    expect(Object.fromEntries([...scores].map(([name, { score }]) => [name, score]))).toEqual({
      exact_match: 1,
      regex: 1,
      json_schema: 0,
      json_match: 0,
    });
    const here = await scorerOf([{ type: 'exact_match' }]).score({ output: 'Paris', expected: 'Paris' });
    expect(here).toEqual(new Map([['exact_match', { score: 1, reason: null, problem: null }]]));
    const large = { output: 'x'.repeat(100_000), expected: 'x'.repeat(100_000) };
    expect((await scorerOf([{ type: 'exact_match' }]).score(large)).get('exact_match')?.score).toBe(1);
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux("leaves the processor to the process's other threads where they need it", async () => {
    await scorerOf([{ type: 'regex', pattern: 'a' }]).score({ output: 'a', expected: undefined });
    const niceness = readdirSync('/proc/self/task').map((thread) => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      // After the name, which can contain anything.
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    });
    expect(Math.max(...niceness)).toBeGreaterThanOrEqual(5);
    expect(getPriority()).toBe(Math.min(...niceness));
  });

  test('keeps null apart from none', async () => {
    const scorer = scorerOf([{ type: 'json_match', ignore_array_order: true }]);
    expect((await scorer.score({ output: 'null', expected: null })).get('json_match')?.score).toBe(1);
    expect((await scorer.score({ output: 'null', expected: undefined })).get('json_match')?.problem).toBe(
      'missing_expected',
    );
  });

  test('ends evaluators that exceed the limit; the rest keep their scores', async () => {
    const slow = Array.from({ length: 8 }, (_, n) => ({ type: 'regex', name: `slow${n}`, pattern: SLOW_PATTERN }));
    const scorer = scorerOf([...slow, { type: 'contains', value: 'a' }]);
    const scores = await scorer.score({ output: randomText(1_048_576), expected: undefined });
    expect(scores.get('contains')?.score).toBe(1);
    for (const { name } of slow)
      expect(scores.get(name)).toEqual({
        score: 0,
        reason: 'the evaluators of this example took longer than 1000 ms and were stopped',
        problem: 'timed_out',
      });
    const after = await scorer.score({ output: 'c', expected: undefined });
    expect(after.get('slow0')).toMatchObject({ score: 0, problem: null });
  });

  test('ends a schema of exponential time', async () => {
    const scorer = scorerOf([{ type: 'json_schema', schema: EXPONENTIAL }]);
    const deep = await scorer.score({ output: `${'['.repeat(60)}1${']'.repeat(60)}`, expected: undefined });
    expect(deep.get('json_schema')?.problem).toBe('timed_out');
    expect((await scorer.score({ output: '[[], [[]]]', expected: undefined })).get('json_schema')?.score).toBe(1);
  });

  test('ends memory hogs, and continues', async () => {
    // 16 million violations to report.
    const schema = { items: { allOf: Array.from({ length: 700 }, () => ({ type: 'string' })) } };
    const scorer = scorerOf([{ type: 'json_schema', schema }]);
    const output = `[${'1,'.repeat(1_200)}1]`;
    const scores = await Promise.all(Array.from({ length: 3 }, () => scorer.score({ output, expected: undefined })));
    for (const each of scores) expect(each.get('json_schema')?.score).toBe(0);
  });

  test('a workspace with slow patterns does not delay another', async () => {
    const output = randomText(1_048_576);
    const slow = scorerOf([{ type: 'regex', pattern: SLOW_PATTERN }], 'hostile');
    const isOver = new AbortController();
    const flood = Array.from({ length: 12 }, () => slow.score({ output, expected: undefined }, isOver.signal));
    // Most are still waiting when it ends: those with a thread continue to the limit.
    const ended = Promise.allSettled(flood);
    let endedCount = 0;
    for (const each of flood)
      each.then(
        () => (endedCount += 1),
        () => {},
      );
    const scorer = scorerOf([{ type: 'regex', pattern: 'a' }], 'other');
    // Its thread has to be started first.
    await scorer.score({ output: 'a', expected: undefined });
    expect(scorer.isFree({ output: 'a' })).toBe(true);
    expect(slow.isFree({ output: 'a' })).toBe(false);
    for (let n = 0; n < 5; n += 1) await scorer.score({ output: 'a', expected: undefined });
    expect(endedCount).toBeLessThan(flood.length);
    isOver.abort();
    const scores = (await ended).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(scores.length).toBeGreaterThan(0);
    expect(scores.map((each) => each.get('regex')?.problem)).toEqual(scores.map(() => 'timed_out'));
  });

  test('a wait for a thread ends with its signal', async () => {
    const slow = scorerOf([{ type: 'regex', pattern: SLOW_PATTERN }], 'impatient');
    const example = { output: randomText(1_048_576), expected: undefined };
    const flood: ReturnType<Scorer['score']>[] = [];
    while (slow.isFree(example)) flood.push(slow.score(example));
    const giveUp = new AbortController();
    const waiting = slow.score(example, giveUp.signal);
    giveUp.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    await Promise.all(flood);
  });
});

describe('checking', () => {
  test('names every unusable expression and schema', async () => {
    const evaluators = [
      { type: 'regex', name: 'a', pattern: '(' },
      { type: 'json_schema', name: 'b', schema: { type: 'strin' } },
      { type: 'exact_match' },
      { type: 'regex', name: 'c', pattern: '(a)\\1' },
      { type: 'regex', name: 'd', pattern: 'a' },
    ];
    await expect(check(evaluators)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [
        { path: 'evaluators.0.pattern' },
        { path: 'evaluators.1.schema' },
        { path: 'evaluators.3.pattern', message: expect.stringContaining('no back-references') },
      ],
    });
    await check([{ type: 'regex', pattern: 'a' }]);
  });

  test('has one limit for all of a request', async () => {
    const properties = (n: number) => ({ properties: { [`k${n}`]: { enum: [n], not: { const: 1 } } } });
    const schema = { allOf: Array.from({ length: 850 }, (_, n) => properties(n)) };
    const evaluators = Array.from({ length: 10 }, (_, n) => ({ type: 'json_schema', name: `s${n}`, schema }));
    await expect(check(evaluators)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [
        { path: expect.stringMatching(/^evaluators\.\d\.schema$/), message: expect.stringContaining('3000 ms') },
      ],
    });
  });
});
