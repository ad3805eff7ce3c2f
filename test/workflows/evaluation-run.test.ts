import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { progressQuery } from '../../src/workflows/evaluation-run.ts';
import { change, untilStopped } from '../support/fake-evaluation-run.ts';
import { type PathEnvironment, takePath } from '../support/histories.ts';
import {
  evaluationRunPath,
  evaluationRunPaths,
  showing,
  stoppedFirst,
  working,
} from '../support/histories-evaluation-run.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

const DAY_MS = 86_400_000;

let temporal: TestWorkflowEnvironment;
let environment: PathEnvironment;
beforeAll(async () => {
  temporal = await startTimeSkipping();
  const { code } = await workflowBundle();
  environment = { client: temporal.client, connection: temporal.nativeConnection, code };
});
afterAll(() => temporal?.teardown());

test.each(evaluationRunPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  await takePath(environment, path);
  expect(path.run.did).toEqual(path.does);
});

test('every example is in a batch, and as many lanes work as the concurrency needs', async () => {
  const path = evaluationRunPath('lanes', [], { control: { examplesTotal: 1_000, concurrency: 60 } });
  await takePath(environment, path);
  const ranges = path.run.worked.map(({ from, to }) => [from, to]).toSorted(([a = 0], [b = 0]) => a - b);
  expect(ranges.at(0)?.[0]).toBe(0);
  expect(ranges.at(-1)?.[1]).toBe(1_000);
  for (const [index, [from]] of ranges.entries()) if (index > 0) expect(from).toBe(ranges[index - 1]?.[1]);
});

test('a run that is due in a month waits for it', async () => {
  const from = await temporal.currentTimeMs();
  const path = evaluationRunPath('in-a-month', [], {
    steps: (run) => {
      const due = from + 30 * DAY_MS;
      return {
        readControl: async () => {
          const waitMs = Math.max(0, due - (await temporal.currentTimeMs()));
          return { ...run.control, startAt: new Date(due).toISOString(), waitMs };
        },
      };
    },
  });
  await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running', 'finish']);
  expect((await temporal.currentTimeMs()) - from).toBeGreaterThanOrEqual(30 * DAY_MS);
});

test('a pause of days costs little history, and its end is noticed without a signal', async () => {
  const from = await temporal.currentTimeMs();
  const path = evaluationRunPath('pause-of-days', [], {
    control: { status: 'paused' },
    steps: (run) => ({
      readControl: async () => {
        if ((await temporal.currentTimeMs()) - from > 5 * DAY_MS && run.control.status === 'paused')
          run.control.status = 'running';
        return { ...run.control };
      },
    }),
  });
  const { history } = await takePath(environment, path);
  expect(path.run.did).toEqual(['finish']);
  expect(JSON.parse(history).events.length).toBeLessThan(400);
});

test('a cancellation that could not be signalled is noticed at the next report of progress', async () => {
  const path = evaluationRunPath('untold', [], {
    steps: (run) => ({
      runBatch: async () => {
        // The row changes and nobody says so.
        run.control.status = 'ended';
        return untilStopped();
      },
    }),
  });
  await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running']);
  expect(path.run.worked).toHaveLength(1);
});

test('a run whose history is full goes on where it was in a new one, and repeats no batch', async () => {
  const path = evaluationRunPath('many-batches', [], {
    control: { examplesTotal: 40_000, concurrency: 100 },
    input: { maxHistoryEvents: 100 },
  });
  const { history } = await takePath(environment, path);
  expect(JSON.parse(history).events.length).toBeLessThan(200);
  expect(path.run.worked).toHaveLength(40);
  expect(new Set(path.run.worked.map(({ from }) => from)).size).toBe(40);
  expect(path.run.did).toEqual(['mark running', 'finish']);
});

test('signals that say nothing new change nothing', async () => {
  const path = evaluationRunPath('repeated-signals', [], {
    steps: stoppedFirst(1),
    meanwhile: async (handle, run) => {
      await working(run, 1);
      await Promise.all(Array.from({ length: 20 }, () => change(handle, run, {})));
      expect(await handle.query(progressQuery)).not.toContain('paused');
      await change(handle, run, { status: 'paused' });
      await showing(handle, 'paused');
      await Promise.all(Array.from({ length: 5 }, () => change(handle, run, { status: 'running' })));
    },
  });
  await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running', 'finish']);
  expect(path.run.worked.map(({ from }) => from)).toEqual([0, 0, 20].slice(0, path.run.worked.length));
});

test('a retry counts what earlier rounds have spent against its budget', async () => {
  const path = evaluationRunPaths().find(({ name }) => name === 'retry-with-what-was-spent');
  if (path === undefined) throw new Error('There is no such path.');
  await takePath(environment, { ...path, name: 'retry-budget' });
  expect(path.run.worked[0]).toMatchObject({ round: 1, spendUpToUsd: 0.5 });
});
