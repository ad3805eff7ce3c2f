import { expect, test } from '@jest/globals';
import { ownUsage, type UsageStep } from '../../../src/domain/traces/own-usage.ts';

const step = (
  id: string,
  parentId: string | null,
  input: number | null,
  output = 0,
  cost: string | null = null,
): UsageStep => ({
  id,
  parentId,
  tokens: input === null ? null : { input, output, cached_input: 0, cache_write: 0, reasoning: 0 },
  cost,
});
const inputs = (steps: UsageStep[]) =>
  Object.fromEntries([...ownUsage(steps)].map(([id, { tokens }]) => [id, tokens && [tokens.input, tokens.output]]));

test('a step around calls has only its additional usage, by kind', () => {
  expect(inputs([step('root', null, 105, 18), step('a', 'root', 52, 9), step('b', 'root', 53, 9)])).toEqual({
    root: [0, 0],
    a: [52, 9],
    b: [53, 9],
  });
  expect(inputs([step('root', null, 110, 18), step('a', 'root', 52, 20)])).toEqual({ root: [58, 0], a: [52, 20] });
});

test('steps without usage pass on their children’s', () => {
  const steps = [
    step('root', null, 52, 9),
    step('chain', 'root', null),
    step('outer', 'chain', 52, 9),
    step('inner', 'outer', 52, 9),
  ];
  expect(inputs(steps)).toEqual({ root: [0, 0], chain: null, outer: [0, 0], inner: [52, 9] });
  expect(inputs(steps.toReversed())).toEqual(inputs(steps));
});

test('a wrapper with less than its children has used nothing, and the children count in full', () => {
  const steps = [step('root', null, 60), step('outer', 'root', 10), step('inner', 'outer', 52)];
  expect(inputs(steps)).toEqual({ root: [8, 0], outer: [0, 0], inner: [52, 0] });
});

test('costs are subtracted to the last digit', () => {
  const own = ownUsage([
    step('root', null, 10, 0, '0.3'),
    step('a', 'root', 5, 0, '0.1'),
    step('b', 'root', 5, 0, '0.1'),
  ]);
  expect(own.get('root')?.cost).toBe('0.1');
});

test('steps that are their own ancestors end', () => {
  const own = inputs([step('a', 'b', 52), step('b', 'a', 52), step('self', 'self', 7)]);
  expect(Object.keys(own).sort()).toEqual(['a', 'b', 'self']);
});

test('50,000 nested steps take only a moment', () => {
  const steps = Array.from({ length: 50_000 }, (_, at) =>
    step(String(at), at === 0 ? null : String(at - 1), 50_000 - at),
  );
  expect(ownUsage(steps).get('0')?.tokens?.input).toBe(1);
});
