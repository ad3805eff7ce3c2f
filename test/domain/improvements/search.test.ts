import { describe, expect, test } from '@jest/globals';
import { createDraw, shuffled } from '../../../src/domain/improvements/random.ts';
import {
  areAllPassing,
  chooseFinalist,
  chooseMinibatch,
  drawParent,
  hasGained,
  kindOf,
  meanScore,
  type PoolMember,
  parentVotes,
  stopReason,
} from '../../../src/domain/improvements/search.ts';

const member = (number: number, scores: (number | null)[], length = 100): PoolMember => ({ number, scores, length });

describe('random numbers', () => {
  test('depend on the seed, the proposal and the purpose, and on nothing else', () => {
    const of = (...[seed, proposal, purpose]: Parameters<typeof createDraw>) => {
      const draw = createDraw(seed, proposal, purpose);
      return [draw(), draw(), draw()];
    };
    expect(of(1, 2, 'parent')).toEqual(of('1', 2, 'parent'));
    const all = [of(1, 2, 'parent'), of(2, 2, 'parent'), of(1, 3, 'parent'), of(1, 2, 'minibatch')].flat();
    expect(new Set(all).size).toBe(12);
    for (const value of all) expect(value).toBeLessThan(1);
  });

  test('are uniform', () => {
    const draw = createDraw(1, 1, 'test');
    const values = Array.from({ length: 4_000 }, draw);
    expect(meanScore(values)).toBeCloseTo(0.5, 1);
    const firsts = Array.from({ length: 3_000 }, () => shuffled(['a', 'b', 'c'], draw)[0]);
    for (const item of ['a', 'b', 'c'])
      expect(firsts.filter((each) => each === item).length / 3_000).toBeCloseTo(1 / 3, 1);
  });
});

test('every eighth proposal is a restart; with examples to add, every fourth adds one', () => {
  const kinds = (shots: number) => Array.from({ length: 16 }, (_, index) => kindOf(index + 1, shots));
  expect(kinds(0).flatMap((kind, index) => (kind === 'reflect' ? [] : [[index + 1, kind]]))).toEqual([
    [7, 'restart'],
    [15, 'restart'],
  ]);
  expect(kinds(2).flatMap((kind, index) => (kind === 'reflect' ? [] : [[index + 1, kind]]))).toEqual([
    [3, 'few_shot'],
    [7, 'restart'],
    [11, 'few_shot'],
    [15, 'restart'],
  ]);
});

describe('parents', () => {
  test('each example votes for its best candidate, and for the better one of two', () => {
    const pool = [member(0, [1, 0, 0, 0.2]), member(1, [0, 1, 0.1, 0.2]), member(2, [0, 0, 1, 0])];
    expect([...parentVotes(pool)]).toEqual([
      [0, 1],
      [1, 2],
      [2, 1],
    ]);
  });

  test('candidates that another one equals or beats everywhere get no votes', () => {
    const pool = [member(0, [1, 0, 0]), member(1, [1, 1, 0]), member(2, [1, 1, 0]), member(3, [0, null, 1])];
    expect([...parentVotes(pool).keys()].sort((a, b) => a - b)).toEqual([1, 3]);
  });

  test('are drawn in proportion to their votes', () => {
    const pool = [member(0, [1, 1, 1, 0]), member(4, [0, 0, 0, 1])];
    const draw = createDraw(5, 0, 'parent');
    const drawn = Array.from({ length: 2_000 }, () => drawParent(pool, draw));
    expect(drawn.filter((number) => number === 4).length / 2_000).toBeCloseTo(0.25, 1);
    expect(drawParent([], draw)).toBe(0);
  });
});

describe('a minibatch', () => {
  const train = (failing: number, passing: number) =>
    Array.from({ length: failing + passing }, (_, index) => ({
      key: `${index < failing ? 'f' : 'p'}${index}`,
      score: index < failing ? (index % 2 === 0 ? 0.4 : null) : 1,
      uses: 0,
    }));
  const failingIn = (keys: string[]) => keys.filter((key) => key.startsWith('f')).length;

  test('has seven failing examples of eight, or what there is', () => {
    const draw = createDraw(1, 1, 'minibatch');
    expect(failingIn(chooseMinibatch(train(20, 20), 8, draw))).toBe(7);
    for (const [failing, passing, expected] of [
      [20, 1, 7],
      [2, 20, 2],
      [3, 2, 3],
    ] as const) {
      const chosen = chooseMinibatch(train(failing, passing), 8, draw);
      expect(chosen).toHaveLength(Math.min(8, failing + passing));
      expect(new Set(chosen).size).toBe(chosen.length);
      expect(failingIn(chosen)).toBe(expected);
    }
  });

  test('uses the least used first', () => {
    const list = train(20, 20).map((example, index) => ({ ...example, uses: index % 2 }));
    const chosen = chooseMinibatch(list, 8, createDraw(1, 1, 'minibatch'));
    expect(chosen.every((key) => Number(key.slice(1)) % 2 === 0)).toBe(true);
  });

  test('teaches nothing if all pass; otherwise a child must raise the sum', () => {
    expect(areAllPassing([1, 1])).toBe(true);
    expect(areAllPassing([1, null])).toBe(false);
    expect(hasGained([0, 1, 0], [1, 1, 0])).toBe(true);
    expect(hasGained([0, 1, 0], [1, 0, 0])).toBe(false);
    expect(hasGained([0.1, 0.2], [0.3, 0.0000000000001])).toBe(false);
    // No score is not a bad score.
    expect(hasGained([null, 0], [1, 0])).toBe(false);
    expect(hasGained([1, 0], [null, 1])).toBe(true);
  });
});

test('a search stops for one reason', () => {
  const going = {
    proposals: 10,
    best: { number: 4, score: 0.7 },
    maxProposals: 40,
    patience: 16,
    isAffordable: true,
    isFinished: false,
    isPastDeadline: false,
  };
  expect(stopReason(going)).toBeUndefined();
  expect(stopReason({ ...going, best: { number: 4, score: 1 } })).toBe('perfect');
  expect(stopReason({ ...going, proposals: 20 })).toBe('patience');
  expect(stopReason({ ...going, proposals: 40, best: { number: 39, score: 0.9 } })).toBe('max_proposals');
  expect(stopReason({ ...going, isAffordable: false })).toBe('max_cost');
  expect(stopReason({ ...going, isPastDeadline: true, isAffordable: false })).toBe('deadline');
  expect(stopReason({ ...going, isPastDeadline: true, isFinished: true })).toBe('finished');
});

describe('the finalist', () => {
  const ones = (count: number) => Array.from({ length: 20 }, (_, index) => (index < count ? 1 : 0));

  test('is the best on the check examples', () => {
    const pool = [member(0, ones(5)), member(1, ones(12)), member(2, ones(18))];
    expect(chooseFinalist(pool, ones(5))?.number).toBe(2);
  });

  test('is the shortest of those that chance may have put just behind the best', () => {
    const other = ones(18).toReversed();
    const pool = [member(0, ones(5)), member(1, ones(18), 900), member(2, other, 300), member(3, ones(12), 50)];
    expect(chooseFinalist(pool, ones(5))?.number).toBe(2);
  });

  test('must beat the mean of the two runs of the base', () => {
    const pool = [member(0, ones(10)), member(1, ones(11))];
    expect(chooseFinalist(pool, ones(13))).toBeUndefined();
    expect(chooseFinalist(pool, ones(11))?.number).toBe(1);
    expect(chooseFinalist([member(0, ones(10))], ones(2))).toBeUndefined();
  });
});
