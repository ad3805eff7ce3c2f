import { ApplicationFailure } from '@temporalio/activity';
import type { ExecutionActivities } from '../../src/activities/execute-prompt/execution.ts';
import {
  type ExecutePromptInput,
  type ExecutePromptState,
  placeFree,
  stateQuery,
} from '../../src/workflows/execute-prompt.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

/** A path, and its end state. */
export type ExecutePromptPath = Path & { endsIn: ExecutePromptState };

const INPUT: ExecutePromptInput = {
  executionId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt: 'support/greeting v3',
  model: 'openai/gpt-4o-mini',
  workspace: 'ws_test',
  inputChars: 40,
};

/** Activities that all succeed, unless overridden. */
export function activitiesWith(others: Partial<ExecutionActivities>): ExecutionActivities {
  return {
    callModel: async () => null,
    recordCompletion: async () => 'completed',
    recordFailure: async (_id, error) => (error === null ? 'canceled' : 'failed'),
    ...others,
  };
}

/** A model's error as the activity raises it. */
export function modelFailure(type: string, options: { nonRetryable?: boolean; retryInMs?: number } = {}) {
  const { nonRetryable = false, retryInMs } = options;
  const details = retryInMs === undefined ? [] : [{ retryInMs }];
  return ApplicationFailure.create({ type, message: `The model said ${type}.`, nonRetryable, details });
}

/** Fails that many times before it succeeds. */
export function failing(times: number, error: () => Error): () => Promise<null> {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw error();
    return null;
  };
}

/** The model has finally failed, and so has the next one after a retry; the one after that responds. */
export function fallingBack(): ExecutionActivities['callModel'] {
  const outcomes: (() => Awaited<ReturnType<ExecutionActivities['callModel']>>)[] = [
    () => ({ fallback: 'anthropic/claude-haiku-4-5', because: 'model_authentication: no credentials' }),
    () => {
      throw modelFailure('model_unavailable', { retryInMs: 20 });
    },
    () => ({ fallback: 'sandbox/echo', because: 'model_unavailable: away' }),
  ];
  return async () => outcomes.shift()?.() ?? { status: 'completed' };
}

/** Is deferred once before it succeeds. */
export function heldBackOnce(heldBackMs: number): ExecutionActivities['callModel'] {
  let isFirst = true;
  return async () => {
    if (!isFirst) return { status: 'completed' };
    isFirst = false;
    return { heldBackMs };
  };
}

/** Records at the second try, which is far enough away to be a timer of the workflow. */
export function afterOutage(): ExecutionActivities['recordCompletion'] {
  const away = failing(1, () => ApplicationFailure.create({ message: 'no database', nextRetryDelay: '11 seconds' }));
  return async () => {
    await away();
    return 'completed';
  };
}

/** A call that ends when its row is canceled; {@link calling} settles when it has started. */
export function canceledInFlight(): Pick<ExecutionActivities, 'callModel' | 'recordFailure'> & {
  calling: () => boolean;
} {
  let isCalling = false;
  const canceled = Promise.withResolvers<void>();
  return {
    calling: () => isCalling,
    async callModel() {
      isCalling = true;
      await canceled.promise;
      return { status: 'canceled' };
    },
    async recordFailure() {
      canceled.resolve();
      return 'canceled';
    },
  };
}

function path(name: string, endsIn: ExecutePromptState, rest: Partial<Path>): ExecutePromptPath {
  return { name, endsIn, workflow: 'executePrompt', args: [INPUT], activities: { ...activitiesWith({}) }, ...rest };
}

/** A path on which the call in flight is aborted. */
export function canceledDuringCall(name = 'canceled-during-call'): ExecutePromptPath {
  const { calling, ...activities } = canceledInFlight();
  return path(name, 'canceled', {
    activities: { ...activitiesWith(activities) },
    taskTimeoutMs: 2_000,
    meanwhile: async (handle) => {
      await until('the call to be in flight', async () => calling());
      await handle.cancel();
    },
  });
}

/** Every path through `executePrompt`. */
export function executePromptPaths(): ExecutePromptPath[] {
  return [
    path('completed', 'completed', {}),
    path('completed-after-retries', 'completed', {
      activities: {
        ...activitiesWith({
          callModel: failing(2, () => modelFailure('model_rate_limited', { retryInMs: 20 })),
        }),
      },
    }),
    path('failed', 'failed', {
      activities: {
        ...activitiesWith({
          callModel: failing(1, () => modelFailure('model_authentication', { nonRetryable: true })),
        }),
      },
    }),
    path('withdrawn', 'withdrawn', {
      activities: { ...activitiesWith({ recordCompletion: async () => 'withdrawn' }) },
    }),
    path('completed-by-its-answer', 'completed', {
      activities: { ...activitiesWith({ callModel: async () => ({ status: 'completed' as const }) }) },
    }),
    path('completed-by-a-fallback', 'completed', { activities: { ...activitiesWith({ callModel: fallingBack() }) } }),
    canceledDuringCall(),
    path('canceled-between-calls', 'canceled', {
      activities: {
        ...activitiesWith({
          callModel: failing(99, () => modelFailure('model_rate_limited', { retryInMs: 3_600_000 })),
        }),
      },
      meanwhile: async (handle) => {
        await until(
          'the first call to have failed',
          async () => (await handle.query(stateQuery)) === 'waiting to retry',
        );
        await handle.cancel();
      },
    }),
    path('recorded-after-an-outage', 'completed', {
      activities: {
        ...activitiesWith({ recordCompletion: afterOutage() }),
      },
    }),
    path('held-back-and-invited', 'completed', {
      activities: { ...activitiesWith({ callModel: heldBackOnce(3_600_000) }) },
      meanwhile: async (handle) => {
        await until('it to be held back', async () => (await handle.query(stateQuery)) === 'held back');
        await handle.signal(placeFree);
      },
    }),
    path('held-back-and-asking-again', 'completed', {
      activities: { ...activitiesWith({ callModel: heldBackOnce(10) }) },
    }),
    path('queried', 'completed', {
      meanwhile: async (handle) => {
        await until('the state to be known', async () => (await handle.query(stateQuery)) === 'completed');
      },
    }),
  ];
}
