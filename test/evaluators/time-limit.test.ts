import { describe, expect, test } from '@jest/globals';
import { limitTime } from '../../src/evaluators/time-limit.ts';

describe('a time limit', () => {
  test('builds once and gives the result of each use', () => {
    let built = 0;
    const withList = limitTime(() => {
      built += 1;
      return [1, 2, 3];
    });
    expect(built).toBe(0);
    expect(withList((list) => list.length)).toBe(3);
    expect(withList((list) => list[0])).toBe(1);
    expect(withList(() => undefined)).toBeUndefined();
    expect(built).toBe(1);
  });

  test('cuts off a use that takes too long, also inside a regular expression, and builds anew after it', () => {
    let built = 0;
    const withCount = limitTime(() => {
      built += 1;
      return built;
    }, 50);
    expect(() => withCount(() => /^(a+)+$/.test(`${'a'.repeat(50)}!`))).toThrow('took longer than 50 ms');
    expect(() =>
      withCount(() => {
        for (;;);
      }),
    ).toThrow(expect.objectContaining({ code: 'timed_out' }));
    expect(withCount((count) => count)).toBe(3);
  });

  test('passes on what a use throws', () => {
    const error = new RangeError('mine');
    expect(() =>
      limitTime(() => 1)(() => {
        throw error;
      }),
    ).toThrow(error);
  });
});
