import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import { improvePromptPaths } from '../support/histories-improve-prompt.ts';
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

test.each(improvePromptPaths().map((path) => [path.name, path] as const))('%s', async (name, path) => {
  const { result } = await takePath(environment, path);
  expect(result ?? 'done').toBe(name === 'canceled' ? 'canceled' : 'done');
  expect(path.moves()).toBeGreaterThan(1);
});
