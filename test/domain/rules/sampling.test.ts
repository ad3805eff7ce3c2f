import { expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { isSampled } from '../../../src/domain/rules/sampling.ts';

const RULE = '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
const executions = Array.from({ length: 20_000 }, newId);

test('a rate of 0 takes nothing, and one of 1 everything', () => {
  expect(executions.some((id) => isSampled(RULE, id, 0))).toBe(false);
  expect(executions.every((id) => isSampled(RULE, id, 1))).toBe(true);
});

test('the share is that of the rate, also among executions whose ids follow each other', () => {
  for (const rate of [0.01, 0.1, 0.5]) {
    const share = executions.filter((id) => isSampled(RULE, id, rate)).length / executions.length;
    // Five standard deviations.
    expect(Math.abs(share - rate)).toBeLessThan(5 * Math.sqrt((rate * (1 - rate)) / executions.length));
  }
});

test('a repeat decides alike, and a higher rate removes no execution', () => {
  const taken = (rate: number) => executions.filter((id) => isSampled(RULE, id, rate));
  expect(taken(0.3)).toEqual(taken(0.3));
  const more = new Set(taken(0.4));
  expect(taken(0.3).every((id) => more.has(id))).toBe(true);
});

test('rules decide independently', () => {
  const other = executions.filter((id) => isSampled(RULE, id, 0.5) && isSampled(newId(), id, 0.5));
  expect(other.length / executions.length).toBeCloseTo(0.25, 1);
});
