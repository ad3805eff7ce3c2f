import { expect, test } from '@jest/globals';
import { countsRecorded, missingSteps, type ReleaseStep } from '../../../src/domain/releases/release.ts';

const canary = (percent: number): ReleaseStep => ({ type: 'canary', percent });
const analyze = (recorded?: boolean): ReleaseStep => ({
  type: 'analyze',
  for: '1h',
  min_executions: 200,
  checks: [],
  recorded,
});
const approve = (count: number, exclude = true): ReleaseStep => ({ type: 'approve', count, exclude_author: exclude });

test('recorded runs count only in a stage whose analysis or bake says so', () => {
  const steps: ReleaseStep[] = [
    canary(5),
    { type: 'wait', for: '1h' },
    analyze(true),
    canary(20),
    analyze(),
    { type: 'promote', bake: { for: '1h', checks: [], recorded: true } },
  ];
  expect([0, 3, 5].map((stage) => countsRecorded(steps, stage))).toEqual([true, false, true]);
  expect(countsRecorded([canary(5), { type: 'promote' }], 0)).toBe(false);
  expect(countsRecorded([canary(5), { type: 'promote' }], 1)).toBe(false);
});

test('a step covers one of the policy if it is as strict', () => {
  expect(missingSteps([approve(2), canary(5)], [canary(5), approve(3)])).toEqual([]);
  expect(missingSteps([approve(2)], [approve(1)])).toEqual([approve(2)]);
  expect(missingSteps([approve(1)], [approve(1, false)])).toEqual([approve(1)]);
  expect(missingSteps([approve(1), approve(1)], [approve(1)])).toEqual([approve(1)]);
  expect(missingSteps([canary(5)], [canary(50)])).toEqual([canary(5)]);
});
