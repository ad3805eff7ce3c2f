import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import { scoreExecutionsPaths } from '../support/histories-score-executions.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

let temporal: TestWorkflowEnvironment;
let environment: PathEnvironment;
beforeAll(async () => {
  temporal = await startTimeSkipping();
  environment = await openPaths(temporal.client, temporal.nativeConnection);
});
afterAll(async () => {
  await environment?.close();
  await temporal?.teardown();
});

test.each(scoreExecutionsPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  await takePath(environment, path);
  expect(path.given).toHaveLength(path.batches.length);
  expect(new Set(path.given.map(({ id }) => id)).size).toBe(1);
});
