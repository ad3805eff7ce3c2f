import { expect, test } from '@jest/globals';
import { treeOrder } from '../../../src/domain/traces/tree-order.ts';

const step = (id: string, parentId: string | null, startedAt: number) => ({ id, parentId, startedAt });

test('each step precedes its children, in the order of their starts', () => {
  const steps = [
    step('b', 'root', 3),
    step('a1', 'a', 2),
    step('root', null, 0),
    step('a', 'root', 1),
    step('a0', 'a', 1),
  ];
  expect(treeOrder(steps)).toEqual(['root', 'a', 'a0', 'a1', 'b']);
  expect(treeOrder(steps.toReversed())).toEqual(['root', 'a', 'a0', 'a1', 'b']);
});

test('orphans are at the top, and each step is there once, even in a cycle', () => {
  expect(treeOrder([step('x', 'gone', 5), step('root', null, 9), step('y', 'x', 1)])).toEqual(['x', 'y', 'root']);
  expect(treeOrder([step('a', 'b', 2), step('b', 'a', 1), step('root', null, 9)])).toEqual(['root', 'b', 'a']);
});
