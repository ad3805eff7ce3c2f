import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ExecutionActivities } from '../activities/execute-prompt/execution.ts';
import type { RetryWait } from '../activities/model-call.ts';
import type { ExecutionStatus } from '../domain/execution-states.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ExecutePromptInput {
  /** UUID of the row in `executions`, which says what to run; the history does not. */
  executionId: string;
  /** Only informs operators; the row determines the model. */
  model: string;
  /** Only informs operators what runs, such as `support/greeting v3`. */
  prompt: string;
  /** Public id. */
  workspace: string;
  /** Characters of the filled prompt: the longer it is, the more memory its call takes. */
  inputChars: number;
  /** The span that started it, in W3C Trace Context format; absent without tracing. */
  traceparent?: string;
}

/** The last ones are end states. */
export type ExecutePromptState =
  | 'calling the model'
  | 'held back'
  | 'waiting to retry'
  | 'recording'
  | Awaited<ReturnType<ExecutionActivities['recordCompletion']>>;

/** The current state of the execution. */
export const stateQuery = defineQuery<ExecutePromptState>('state');
/** A call slot of the workspace is reserved for it. */
export const placeFree = defineSignal('placeFree');

/**
 * Every step is a local activity that runs in the worker that has the workflow, so an execution is a single workflow task for
 * Temporal. If the worker crashes, the task times out, and another worker repeats the step.
 */
const { recordCompletion, recordFailure } = proxyLocalActivities<ExecutionActivities>(LOCAL_STEP);
/** The workflow does the retries, so that its timers show why it waits. MODEL_TIMEOUT bounds a call. */
const { callModel } = proxyLocalActivities<ExecutionActivities>({
  startToCloseTimeout: '1 day',
  retry: { maximumAttempts: 1 },
});

/** Waits after failures other than the model's. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/**
 * Runs a stored execution: calls its model, and then the fallbacks, until one responds or none is left, and records how it
 * ended.
 */
export async function executePrompt({
  executionId,
  model,
  workspace,
  inputChars,
  traceparent,
}: ExecutePromptInput): Promise<{ state: ExecutePromptState }> {
  let state: ExecutePromptState = 'calling the model';
  const trace = traceparent === undefined ? [] : ([traceparent] as const);
  let offered = false;
  /** Also only for operators: the row determines the next model. */
  let called = model;
  let fellBack: string | undefined;
  setHandler(placeFree, () => {
    offered = true;
  });
  setHandler(stateQuery, () => state);
  const enter = (next: ExecutePromptState, details: string) => {
    state = next;
    setCurrentDetails(`**${next}** ${details}`);
  };

  /** Waits for `ms`, or until `isOver`. */
  async function wait(next: ExecutePromptState, ms: number, why: string, isOver = () => false): Promise<void> {
    enter(next, `${why}\n\ncalls again at ${clockText(Date.now() + ms)}`);
    await condition(isOver, ms, { summary: `calls again in ${durationText(ms)}: ${why}` });
  }

  async function untilCalled(): Promise<{ status: ExecutionStatus } | null> {
    for (let failures = 0; ; ) {
      enter('calling the model', fellBack ?? model);
      offered = false;
      try {
        const outcome = await CancellationScope.nonCancellable(() =>
          callModel(executionId, workspace, inputChars, ...trace),
        );
        if (!outcome || 'status' in outcome) return outcome;
        if ('heldBackMs' in outcome)
          await wait('held back', outcome.heldBackMs, 'the workspace has enough calls in flight', () => offered);
        else {
          fellBack = `${outcome.fallback}, instead of ${called} (${outcome.because})`;
          called = outcome.fallback;
          failures = 0;
        }
      } catch (error) {
        if (scope.consideredCancelled || isNonRetryable(error)) throw error;
        failures += 1;
        const why = failureText(error);
        await wait('waiting to retry', retryInMs(error, failures), fellBack === undefined ? why : `${called}: ${why}`);
      }
    }
  }

  const scope = CancellationScope.current();
  let recorded: Promise<ExecutePromptState> | undefined;
  // A call in flight learns of its row immediately, but of the cancellation only with the next workflow task.
  const recordCancellation = () => {
    recorded ??= CancellationScope.nonCancellable(() => recordFailure(executionId, null, ...trace));
    return recorded;
  };
  void scope.cancelRequested.catch(recordCancellation);

  let details = '';
  try {
    const outcome = await untilCalled();
    if (outcome !== null) state = outcome.status;
    else {
      enter('recording', '');
      state = await CancellationScope.nonCancellable(() => recordCompletion(executionId, ...trace));
    }
  } catch (error) {
    if (scope.consideredCancelled) state = await recordCancellation();
    else {
      const failure = failureOf(error);
      details = `${failure.code}: ${failure.message}`;
      enter('recording', details);
      state = await CancellationScope.nonCancellable(() => recordFailure(executionId, failure, ...trace));
    }
  }
  // Wait for every step.
  await recorded;
  enter(state, [fellBack, details].filter((text) => text).join('\n\n'));
  return { state };
}

interface Failure {
  code: string;
  message: string;
}

// A local activity fails with its own error, as the activity raised it.

function isNonRetryable(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.nonRetryable === true;
}

/** The time until the next call: from the model's error, otherwise growing. */
function retryInMs(error: unknown, failures: number): number {
  const [wait] = ((error instanceof ApplicationFailure && error.details) || []) as [RetryWait?];
  return wait?.retryInMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
}

function failureText(error: unknown): string {
  const { code, message } = failureOf(error);
  return `${code}: ${message}`;
}

/** The error for the caller: the model's, which the activity raised with its code as type. */
function failureOf(error: unknown): Failure {
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'model_unavailable', message: error.message };
  return { code: 'model_unavailable', message: 'The model could not be called.' };
}
