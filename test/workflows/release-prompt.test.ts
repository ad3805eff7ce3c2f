import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { releasePromptPath } from '../support/fake-release-prompt.ts';
import { openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import { releasePromptPaths } from '../support/histories-release-prompt.ts';
import { eventsOf } from '../support/history-events.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

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

test.each(releasePromptPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  const { result } = await takePath(environment, path);
  expect(path.release.did).toEqual(path.does);
  expect(result ?? 'done').toBe(path.name === 'canceled' ? 'canceled' : 'done');
});

test('days pass as planned: a check every minute, and no step before its time', async () => {
  const path = releasePromptPath(
    'days',
    [
      { type: 'canary' },
      { type: 'analyze', waitMs: 6 * HOUR_MS, checkEveryMs: MINUTE_MS },
      { type: 'wait', waitMs: 3 * DAY_MS },
      { type: 'promote', bakeMs: 2 * DAY_MS, checkEveryMs: HOUR_MS },
    ],
    ['canary', 'analyze passed', 'waited', 'promoted', 'promote passed', 'succeeded'],
  );
  const checks: number[] = [];
  const { release } = path;
  const pushed = release.did.push.bind(release.did);
  release.did.push = (...what) => {
    checks.push(release.checks);
    return pushed(...what);
  };
  const { history } = await takePath(environment, path);
  // By the history: when it has ended, the server skips on to whatever timer is left.
  const [started, completed] = ['WORKFLOW_EXECUTION_STARTED', 'WORKFLOW_EXECUTION_COMPLETED'].map(
    (type) => eventsOf(history, type)[0]?.timeMs ?? Number.NaN,
  );
  const passedMs = Number(completed) - Number(started);
  expect([...release.did]).toEqual(path.does);
  const expectedMs = 6 * HOUR_MS + 3 * DAY_MS + 2 * DAY_MS;
  expect(passedMs).toBeGreaterThanOrEqual(expectedMs);
  expect(passedMs).toBeLessThan(expectedMs + 10 * MINUTE_MS);
  // At the start, every minute, and at the end.
  expect(checks[1]).toBe(6 * 60 + 1);
  expect(checks[4]).toBe(2 * 24 + 1);
});

test('a deadline ends a wait of days for people', async () => {
  const path = releasePromptPath('late', [{ type: 'approve' }, { type: 'promote' }], ['expired'], {
    deadlineMs: 5 * DAY_MS,
  });
  await takePath(environment, path);
  expect(path.release.did).toEqual(path.does);
});
