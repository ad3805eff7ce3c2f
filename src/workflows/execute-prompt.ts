import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { CallOutcome, ExecutionActivities } from '../activities/execute-prompt/execution.ts';
import { durationText } from '../domain/duration-text.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ExecutePromptInput {
  /** UUID of the row in `executions`: what to run is there, not in the history. */
  executionId: string;
  /** Only tells operators what is called; which model that is says the row. */
  model: string;
  /** Public id. */
  workspace: string;
}

/** The last ones are how the execution ended. */
export type ExecutePromptState =
  | 'calling the model'
  | 'held back'
  | 'recording'
  | Awaited<ReturnType<ExecutionActivities['recordCompletion']>>;

/** Where the execution is at. */
export const stateQuery = defineQuery<ExecutePromptState>('state');
/** A place among the calls of the workspace is kept for it. */
export const placeFree = defineSignal('placeFree');

const activitiesFor = (model: string) =>
  proxyActivities<ExecutionActivities>({
    summary: model,
    // A call is bounded by MODEL_TIMEOUT; a worker that dies is noticed by its missing heartbeats.
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '10 seconds',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });

const { recordCompletion, recordFailure } = proxyLocalActivities<ExecutionActivities>(LOCAL_STEP);

/** Runs a stored execution: calls its model until there is an answer or no hope, then records how it ended. */
export async function executePrompt({
  executionId,
  model,
  workspace,
}: ExecutePromptInput): Promise<{ state: ExecutePromptState }> {
  let state: ExecutePromptState = 'calling the model';
  let invited = false;
  setHandler(placeFree, () => {
    invited = true;
  });
  setHandler(stateQuery, () => state);
  const enter = (next: ExecutePromptState, details: string) => {
    state = next;
    setCurrentDetails(`**${next}** ${details}`);
  };

  async function callModel(): Promise<Exclude<CallOutcome, { heldBackMs: number }> | null> {
    for (;;) {
      enter('calling the model', model);
      invited = false;
      const outcome = await activitiesFor(model).callModel(executionId, workspace);
      if (!outcome || !('heldBackMs' in outcome)) return outcome;
      const why = 'the workspace has enough calls under way';
      enter('held back', why);
      const summary = `asks again in ${durationText(outcome.heldBackMs)}: ${why}`;
      await condition(() => invited, outcome.heldBackMs, { summary });
    }
  }

  let failure: Failure | null | undefined;
  try {
    const answered = await callModel();
    if (answered?.status === 'completed') {
      enter('completed', '');
      return { state };
    }
  } catch (error) {
    failure = isCancellation(error) || CancellationScope.current().consideredCancelled ? null : failureOf(error);
  }

  const reason = failure ? `${failure.code}: ${failure.message}` : '';
  enter('recording', reason);
  const ended = await CancellationScope.nonCancellable(() =>
    failure === undefined ? recordCompletion(executionId) : recordFailure(executionId, failure),
  );
  enter(ended, reason);
  return { state };
}

interface Failure {
  code: string;
  message: string;
}

/** What the caller is told: the model's error, which the activity raised with its code as type. */
function failureOf(error: unknown): Failure {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return { code: error.cause.type ?? 'model_unavailable', message: error.cause.message };
  return { code: 'model_unavailable', message: 'The model could not be called.' };
}
