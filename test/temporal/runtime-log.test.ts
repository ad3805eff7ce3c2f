import process from 'node:process';
import { expect, test } from '@jest/globals';
import { startNode } from '../support/processes.ts';

test('the SDK warns of failing steps, and not of long calls', async () => {
  const { code, output } = await startNode('test/support/runtime-log-main.ts', {
    TEST_TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
  }).ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('the step failed');
  expect(output).not.toContain('TMPRL1104');
});
