import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { stateQuery } from '../../src/workflows/execute-prompt.ts';
import { openPaths, type Path, type PathEnvironment, takePath } from '../support/histories.ts';
import {
  activitiesWith,
  executePromptPaths,
  failing,
  fallingBack,
  modelFailure,
} from '../support/histories-execute-prompt.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';
import { until } from '../support/wait-for.ts';

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

const paths = executePromptPaths();

/** The path with that name, with some activities replaced. */
function variant(name: string, as: string, activities: Parameters<typeof activitiesWith>[0]): Path {
  const path = paths.find((each) => each.name === name);
  if (path === undefined) throw new Error(`There is no path ${name}.`);
  return { ...path, name: as, activities: { ...activitiesWith(activities) } };
}

function eventOf(history: string, type: string) {
  return JSON.parse(history).events.find(({ eventType }: { eventType: string }) => eventType === `EVENT_TYPE_${type}`);
}

const summaryOf = (history: string, type: string) =>
  Buffer.from(eventOf(history, type).userMetadata?.summary?.data ?? '', 'base64').toString();
const secondsOf = (history: string, type: string) => Number(eventOf(history, type).eventTime.seconds);

test.each(paths.map((path) => [path.name, path] as const))('%s', async (_name, path) => {
  const { result } = await takePath(environment, path);
  expect(result).toEqual({ state: path.endsIn });
});

const CODES = [
  'model_authentication',
  'model_not_found',
  'model_rate_limited',
  'model_invalid_request',
  'model_timeout',
  'model_unavailable',
  'content_filtered',
];
test.each(CODES)('%s is recorded with its message if no retry helps', async (code) => {
  const recorded: unknown[] = [];
  const path = variant('failed', code, {
    callModel: failing(1, () => modelFailure(code, { nonRetryable: true })),
    recordFailure: async (_id, error) => {
      recorded.push(error);
      return 'failed';
    },
  });
  expect((await takePath(environment, path)).result).toEqual({ state: 'failed' });
  expect(recorded).toEqual([{ code, message: `The model said ${code}.` }]);
});

test('a Retry-After of half an hour is waited for', async () => {
  const path = variant('completed', 'half-an-hour', {
    callModel: failing(1, () => modelFailure('model_rate_limited', { retryInMs: 30 * 60_000 })),
  });
  const { history, result } = await takePath(environment, path);
  expect(result).toEqual({ state: 'completed' });
  const waitedSeconds = secondsOf(history, 'TIMER_FIRED') - secondsOf(history, 'TIMER_STARTED');
  expect(summaryOf(history, 'TIMER_STARTED')).toBe(
    '"calls again in 30 min: model_rate_limited: The model said model_rate_limited."',
  );
  expect(waitedSeconds).toBeGreaterThanOrEqual(30 * 60 - 1);
  expect(waitedSeconds).toBeLessThan(40 * 60);
});

test('a non-model error is retried, not recorded', async () => {
  const path = variant('completed', 'plain-error', { callModel: failing(3, () => new Error('out of memory')) });
  expect((await takePath(environment, path)).result).toEqual({ state: 'completed' });
});

test('an answer before its cancellation is kept, and the row says how the execution ended', async () => {
  const answered = Promise.withResolvers<void>();
  const path = variant('canceled-during-call', 'answered-when-canceled', {
    callModel: async () => {
      await answered.promise;
      return { status: 'completed' };
    },
    recordFailure: async () => {
      answered.resolve();
      return 'completed';
    },
  });
  const { result } = await takePath(environment, {
    ...path,
    meanwhile: async (handle) => {
      await handle.cancel();
    },
  });
  expect(result).toEqual({ state: 'completed' });
});

test('a step its worker does not finish is not a cancellation', async () => {
  let isFirst = true;
  const path = variant('completed', 'stopping-worker', {
    callModel: async () => {
      if (!isFirst) return { status: 'completed' };
      isFirst = false;
      throw new DOMException('This worker stops.', 'AbortError');
    },
    recordFailure: async () => 'canceled',
  });
  expect((await takePath(environment, path)).result).toEqual({ state: 'completed' });
});

test('operators see the state while it waits, and how it ended', async () => {
  const details: (string | undefined)[] = [];
  const path = variant('canceled-between-calls', 'watched', {
    callModel: failing(99, () => modelFailure('model_rate_limited', { retryInMs: 3_600_000 })),
  });
  await takePath(environment, {
    ...path,
    meanwhile: async (handle) => {
      const look = async () => {
        const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
        details.push(currentDetails);
      };
      await until('it to wait', async () => (await handle.query(stateQuery)) === 'waiting to retry');
      await look();
      await handle.cancel();
      await until('the end', async () => (await handle.query(stateQuery)) === 'canceled');
      await look();
    },
  });
  expect(details.map((text) => text?.trim())).toEqual([
    expect.stringMatching(
      /^\*\*waiting to retry\*\* model_rate_limited: The model said model_rate_limited\.\n\ncalls again at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    ),
    '**canceled**',
  ]);

  let failed: string | undefined;
  await takePath(environment, {
    ...variant('failed', 'watched-failure', {
      callModel: failing(1, () => modelFailure('model_not_found', { nonRetryable: true })),
    }),
    meanwhile: async (handle) => {
      await until('the end', async () => (await handle.query(stateQuery)) === 'failed');
      failed = (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails;
    },
  });
  expect(failed).toBe('**failed** model_not_found: The model said model_not_found.');
});

test('operators see which model replaced which, and why', async () => {
  const path = variant('completed-by-a-fallback', 'watched-fallback', { callModel: fallingBack() });
  let details: string | undefined;
  const { history } = await takePath(environment, {
    ...path,
    meanwhile: async (handle) => {
      await until('the end', async () => (await handle.query(stateQuery)) === 'completed');
      details = (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails;
    },
  });
  expect(summaryOf(history, 'TIMER_STARTED')).toBe(
    '"calls again in 20 ms: anthropic/claude-haiku-4-5: model_unavailable: The model said model_unavailable."',
  );
  expect(details).toBe('**completed** sandbox/echo, instead of anthropic/claude-haiku-4-5 (model_unavailable: away)');
});

test('operators see the prompt, its version and the model', async () => {
  const path = variant('completed', 'described', {});
  const { history } = await takePath(environment, path);
  expect(summaryOf(history, 'WORKFLOW_EXECUTION_STARTED')).toBe('"support/greeting v3 on openai/gpt-4o-mini"');
});

test('the history carries no text of the prompt or the answer', async () => {
  const { history } = await takePath(environment, variant('completed', 'small', {}));
  const payloads = [...history.matchAll(/"data":\s*"([^"]+)"/g)].map(([, data]) =>
    Buffer.from(data ?? '', 'base64').toString(),
  );
  for (const payload of payloads) expect(payload.length).toBeLessThan(300);
  expect(history.length).toBeLessThan(15_000);
});
