import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { cancelExecutionWorkflowLater } from '../../../src/services/executions/execution-workflow.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('workflows are asked to stop after calls in flight had time to end, and not all at once', () => {
  let asked = 0;
  const client = {
    withDeadline: (_deadline: number, request: () => Promise<void>) => request(),
    workflow: { getHandle: () => ({ cancel: async () => void asked++ }) },
  } as unknown as Client;
  const log = pino({ enabled: false });
  for (let n = 0; n < 200; n += 1) cancelExecutionWorkflowLater(client, '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', log);
  jest.advanceTimersByTime(1_999);
  expect(asked).toBe(0);
  jest.advanceTimersByTime(4_000);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(200);
  jest.advanceTimersByTime(4_001);
  expect(asked).toBe(200);
});
