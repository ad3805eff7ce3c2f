import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { progressQuery } from '../../src/workflows/follow-row.ts';
import { change, untilStopped } from '../support/fake-evaluation-run.ts';
import { openPaths, type PathEnvironment, takePath } from '../support/histories.ts';
import {
  evaluationRunPath,
  evaluationRunPaths,
  showing,
  stoppedFirst,
  working,
} from '../support/histories-evaluation-run.ts';
import { eventsOf, type HistoryEvent } from '../support/history-events.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

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

test.each(evaluationRunPaths().map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  await takePath(environment, path);
  expect(path.run.did).toEqual(path.does);
});

test('a run whose batches had ended before the database was restored repeats all of them', async () => {
  const path = evaluationRunPaths().find(({ name }) => name === 'results-gone-with-a-restored-database');
  if (path === undefined) throw new Error('There is no such path.');
  await takePath(environment, { ...path, name: 'batches-again' });
  const ranges = path.run.worked.map(({ from, to }) => [from, to]);
  expect(ranges.length).toBeGreaterThan(1);
  expect(ranges.slice(ranges.length / 2)).toEqual(ranges.slice(0, ranges.length / 2));
});

test('every example is in a batch, and as many lanes work as the concurrency needs', async () => {
  const path = evaluationRunPath('lanes', [], { control: { examplesTotal: 1_000, concurrency: 60 } });
  await takePath(environment, path);
  const ranges = path.run.worked.map(({ from, to }) => [from, to]).toSorted(([a = 0], [b = 0]) => a - b);
  expect(ranges.at(0)?.[0]).toBe(0);
  expect(ranges.at(-1)?.[1]).toBe(1_000);
  for (const [index, [from]] of ranges.entries()) if (index > 0) expect(from).toBe(ranges[index - 1]?.[1]);
});

test('a run that is due in a month waits', async () => {
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
  const path = evaluationRunPath('signal_pending', [], {
    steps: (run) => ({
      runBatch: async () => {
        // The row changes without a signal.
        run.control.status = 'ended';
        return untilStopped();
      },
    }),
  });
  await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running']);
  expect(path.run.worked).toHaveLength(1);
});

test('a run with a full history continues in a new one, and repeats no batch', async () => {
  const path = evaluationRunPath('many-batches', [], {
    control: { examplesTotal: 100_000, concurrency: 100 },
    input: { maxHistoryEvents: 100 },
  });
  const { history } = await takePath(environment, path);
  expect(JSON.parse(history).events.length).toBeLessThan(200);
  expect(path.run.worked).toHaveLength(40);
  expect(new Set(path.run.worked.map(({ from }) => from)).size).toBe(40);
  expect(path.run.did).toEqual(['mark running', 'finish']);
});

test('signals without news change nothing', async () => {
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
  expect(path.run.worked.map(({ from }) => from)).toEqual([0, 0, 2500].slice(0, path.run.worked.length));
});

test('a retry counts earlier costs against its budget', async () => {
  const path = evaluationRunPaths().find(({ name }) => name === 'retry-with-what-was-spent');
  if (path === undefined) throw new Error('There is no such path.');
  await takePath(environment, { ...path, name: 'retry-budget' });
  expect(path.run.worked[0]).toMatchObject({ round: 1, spendUpToUsd: 0.5 });
});

const CLOCK = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;

const summariesOf = (history: string, type: string) =>
  eventsOf(history, type).map(({ summary }: HistoryEvent) => summary);

test('a run of ten hours leaves tens of progress entries in its history', async () => {
  const path = evaluationRunPath('ten-hours', [], {
    steps: (run) => ({
      // Time is skipped only while no step is in progress, so a batch has to wait.
      runBatch: async () =>
        run.worked.length === 1 ? { heldBackMs: 10 * HOUR_MS } : { finished: true, starved: false, costUsd: 0 },
    }),
  });
  const from = await temporal.currentTimeMs();
  const { history } = await takePath(environment, path);
  expect((await temporal.currentTimeMs()) - from).toBeGreaterThanOrEqual(10 * HOUR_MS);
  const looks = summariesOf(history, 'MARKER_RECORDED').filter((summary) => summary === 'sums up the progress');
  expect(looks.length).toBeGreaterThan(40);
  expect(looks.length).toBeLessThan(60);
  expect(JSON.parse(history).events.length).toBeLessThan(500);
});

test('every timer and step has a purpose', async () => {
  const path = evaluationRunPath('summaries', [], {
    control: { startAt: '2026-01-31T12:00:00.000Z' },
    steps: (run) => {
      const first = [{ status: 'paused' as const }, { waitMs: 1_000 }];
      return {
        readControl: async () => ({ ...run.control, ...first.shift() }),
        sumUpProgress: async () => ({ line: 'as far as it is', details: '' }),
        runBatch: async () =>
          run.worked.length === 1 ? { heldBackMs: 12_000 } : { finished: true, starved: false, costUsd: 0 },
      };
    },
  });
  const { history } = await takePath(environment, path);
  expect(new Set(summariesOf(history, 'TIMER_STARTED'))).toEqual(
    new Set([
      'as far as it is; checks again in 6 h',
      'waiting until 2026-01-31 12:00:00 UTC',
      'under way; checks again in 5 s',
      'as far as it is; checks again in 10 s',
      'examples 1 to 2500: tries again in 12 s because the workspace has enough batches in progress',
    ]),
  );
  expect(new Set(summariesOf(history, 'ACTIVITY_TASK_SCHEDULED'))).toEqual(
    new Set([
      'examples 1 to 2500 of 5000, 20 at a time',
      'examples 2501 to 5000 of 5000, 20 at a time',
      'sums up 5000 examples and compares them with the baseline',
    ]),
  );
  expect(new Set(summariesOf(history, 'MARKER_RECORDED'))).toEqual(
    new Set([
      'reads the requests of the caller',
      'marks the run as running',
      'reads the cost of the run so far',
      'sums up the progress',
    ]),
  );
});

test('details show why the run waits, and until when', async () => {
  const path = evaluationRunPath('details', [], {
    control: { waitMs: HOUR_MS, startAt: '2026-01-31T12:00:00.000Z' },
    steps: (run) => ({
      runBatch: async () =>
        run.worked.length === 1 ? { heldBackMs: HOUR_MS } : { finished: true, starved: false, costUsd: 0 },
    }),
    meanwhile: async (handle, run) => {
      const details = () =>
        handle
          .query<{ currentDetails?: string }>('__temporal_workflow_metadata')
          .then(({ currentDetails }) => currentDetails);
      await showing(handle, 'waiting until');
      expect(await details()).toMatch(/^waiting until 2026-01-31 12:00:00 UTC, its scheduled start\n/);
      await change(handle, run, { waitMs: 0 });
      await showing(handle, 'waits for a free slot');
      expect(await details()).toMatch(
        new RegExp(
          `examples 1 to 2500: waits for a free slot, until ${CLOCK} at the latest, because the workspace has enough batches in progress$`,
        ),
      );
      await change(handle, run, { status: 'paused' });
      await showing(handle, 'paused');
      expect(await details()).toMatch(
        new RegExp(`^paused, 1 batches\n\nwaits until it is resumed or canceled\n\nas of ${CLOCK}$`),
      );
      await change(handle, run, { status: 'running' });
    },
  });
  await takePath(environment, path);
  expect(path.run.did).toEqual(['mark running', 'finish']);
});
