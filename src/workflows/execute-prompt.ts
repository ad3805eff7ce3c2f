import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ExecutionActivities } from '../activities/execution.ts';

export interface ExecutePromptInput {
  /** UUID of the row in `executions`: what to run is there, not in the history. */
  executionId: string;
}

export type ExecutePromptState = 'calling the model' | 'recording' | 'completed' | 'failed' | 'canceled' | 'withdrawn';

/** Where the execution is at. */
export const stateQuery = defineQuery<ExecutePromptState>('state');

const { callModel } = proxyActivities<ExecutionActivities>({
  // A call is bounded by MODEL_TIMEOUT; a worker that dies is noticed by its missing heartbeats.
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

const { recordCompletion, recordFailure } = proxyLocalActivities<ExecutionActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

/** Runs a stored execution: calls its model until there is an answer or no hope, then records how it ended. */
export async function executePrompt({ executionId }: ExecutePromptInput): Promise<{ state: ExecutePromptState }> {
  let state: ExecutePromptState = 'calling the model';
  setHandler(stateQuery, () => state);
  const enter = (next: ExecutePromptState, details = '') => {
    state = next;
    setCurrentDetails(`**${next}** ${details}`);
  };

  try {
    const { answered } = await callModel(executionId);
    if (!answered) {
      enter('withdrawn', 'The execution was withdrawn or canceled before a model was called.');
      return { state };
    }
    enter('recording');
    await CancellationScope.nonCancellable(() => recordCompletion(executionId));
    enter('completed');
  } catch (error) {
    const canceled = isCancellation(error);
    const failure = canceled ? undefined : failureOf(error);
    await CancellationScope.nonCancellable(() => recordFailure(executionId, failure ?? null));
    enter(canceled ? 'canceled' : 'failed', failure && `${failure.code}: ${failure.message}`);
  }
  return { state };
}

/** What the caller is told: the model's error, which the activity raised with its code as type. */
function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return { code: error.cause.type ?? 'model_unavailable', message: error.cause.message };
  return { code: 'model_unavailable', message: 'The model could not be called.' };
}
