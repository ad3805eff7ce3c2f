import process from 'node:process';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { silenceTemporal } from './histories.ts';
import { until } from './wait-for.ts';

/**
 * A separate time-skipping Temporal for a test file. The SDK gives a server 5 s to start, which a busy machine may exceed, so the start
 * is retried.
 */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  silenceTemporal();
  const executable = { type: 'existing-path', path: process.env['TEST_TIME_SKIPPING_SERVER'] ?? '' } as const;
  return until('the time-skipping server', () =>
    TestWorkflowEnvironment.createTimeSkipping({ server: { executable } }),
  );
}
