import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import type { Spent } from '../../domain/usage.ts';
import type { Turns } from '../../lib/turns.ts';
import type { ModelResponse, Models } from '../../models/model.ts';
import { ModelError } from '../../models/model-error.ts';
import type { StartLimiter } from '../../services/executions/creation/start-limiter.ts';
import type { OnExecutionEnd } from '../../services/executions/execution-metrics.ts';
import { endedOf } from '../../services/executions/executions.ts';
import { callEnd, type ExecutionError, GIVEN_UP } from '../../services/executions/run/calls.ts';
import { type ClaimedCall, claimExecution } from '../../services/executions/run/claim-execution.ts';
import { failExecution } from '../../services/executions/run/end-execution.ts';
import { onExecutionFinished } from '../../services/executions/run/execution-finished.ts';
import { fallBack, fallsBackOn } from '../../services/executions/run/fall-back.ts';
import { completeExecution, endCall, storeResponse } from '../../services/executions/run/store-response.ts';
import type { StreamWriter } from '../../services/streams/stream-writer.ts';
import type { Slots } from '../../temporal/slots.ts';
import { inputWeight } from '../input-weight.ts';
import {
  type CallFailure,
  createCallsInFlight,
  EXHAUSTED,
  ExecutionEndedError,
  failureOf,
  PROCESS_ENDED,
  toApplicationFailure,
  UNSTORABLE,
} from '../model-call.ts';

export interface ExecutionActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
  slots: Slots;
  /** Turns of this process, by public workspace id. */
  turns: Turns;
  startLimiter: Pick<StartLimiter, 'callBegan' | 'untilQuiet'>;
  streams: StreamWriter;
  /** Aborted when this process shuts down: no more calls are started. */
  stopping: AbortSignal;
  /** Aborted when `SHUTDOWN_GRACE` for calls in flight is over. */
  graceOver: AbortSignal;
  /** How long to try to claim an execution while the database is down. Default: 10 s. */
  claimWithinMs?: number;
  listener: Listener;
  log: Logger;
  /** Called for each execution that ends here. */
  onExecutionEnd?: OnExecutionEnd;
}

/** From this size an input is read in a turn, because it may be JSON that must be parsed. */
const LARGE_CHARS = 256 * 1024;
/** The workflow waits for a longer outage of the database. */
const CLAIM_WITHIN_MS = 10_000;

/**
 * The end of an execution is already visible in its row, to its caller and to its webhooks. Temporal, for which it is as much work
 * as a start, is notified when no start is under way here, at the latest after this time.
 */
const TELL_WITHIN_MS = 150;

/** The outcome of calling a model. */
export type CallOutcome =
  | { status: ExecutionStatus }
  /**
   * The workspace has reached its limit of calls in flight, and nothing was done. Try again after that time or when signaled.
   */
  | { heldBackMs: number }
  /** The model finally failed; the row already names this one as the next to call. */
  | { fallback: string; because: string };

/** How an execution ended; null: read its row. */
const outcomeOf = (status: ExecutionStatus | undefined): CallOutcome | null =>
  status === undefined ? null : { status };
const toError = ({ code, message }: CallFailure): ExecutionError => ({ code, message });

export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

/**
 * The steps of the workflow `executePrompt`. Each is idempotent. The `_traceparent` of each is the trace of the execution, for
 * tracing activities.
 */
export function createExecutionActivities({
  db,
  models,
  modelTimeoutMs,
  stopping,
  graceOver,
  claimWithinMs = CLAIM_WITHIN_MS,
  slots,
  turns,
  startLimiter,
  streams,
  listener,
  log,
  onExecutionEnd: onEnd,
}: ExecutionActivityDeps) {
  const inFlight = createCallsInFlight<CallOutcome | null>();
  graceOver.addEventListener('abort', () => inFlight.giveUpAll(graceOver.reason), { once: true });
  const query = db.system.query;
  onExecutionFinished(listener, inFlight.giveUp);
  // Catches up on notifications missed while disconnected.
  listener.onReconnected(() => {
    const ids = inFlight.ids();
    if (ids.length === 0) return;
    endedOf(query, ids).then(
      (ended) => ended.forEach(inFlight.giveUp),
      (error: unknown) => log.warn({ err: error }, 'cannot check for executions that have ended'),
    );
  });

  /**
   * Makes a claimed call and stores its response, or at least how it ended and its cost.
   * @throws ApplicationFailure
   */
  async function call(
    id: string,
    workspace: string,
    claimed: ClaimedCall,
    signal: AbortSignal,
  ): Promise<CallOutcome | null> {
    const startedAt = performance.now();
    let response: ModelResponse;
    try {
      response = await generate(id, workspace, claimed, signal);
    } catch (error) {
      const durationMs = performance.now() - startedAt;
      return endFailedCall(id, claimed, error, durationMs, signal);
    }
    try {
      // The response is paid for, so it is stored even if the database is down for a while.
      return outcomeOf(await untilDatabaseAnswers(() => storeResponse(query, id, claimed.attempt, response, onEnd)));
    } catch (error) {
      const end = callEnd(response.modelMs, response, toError(UNSTORABLE));
      await keep(id, response, () => endCall(query, id, claimed.attempt, response, end));
      if (signal.reason instanceof ExecutionEndedError) return outcomeOf(await completeExecution(query, id, onEnd));
      // A repeated call would cost again, and its response would be rejected again.
      throw toApplicationFailure(UNSTORABLE, error);
    }
  }

  /**
   * The only place that calls the model of an execution. If a caller reads it as a stream, output is passed on as it arrives.
   */
  async function generate(
    id: string,
    workspace: string,
    { model, input, tools, toolChoice, parameters, attempt, streamed, promptName, promptVersion }: ClaimedCall,
    signal: AbortSignal,
  ): Promise<ModelResponse> {
    const stream = streamed ? streams.open(id, attempt, workspace) : undefined;
    const origin = { execution: publicId('execution', id), prompt: { name: promptName, version: promptVersion } };
    const call = { workspace, model, input, tools, toolChoice, parameters, onDelta: stream?.onDelta };
    try {
      return await models.generate({ ...call, origin, signal, timeoutMs: modelTimeoutMs });
    } finally {
      await stream?.end();
    }
  }

  /** Stores how a call failed, and triggers the next model if this one finally failed. @throws ApplicationFailure */
  async function endFailedCall(
    id: string,
    { attempt, fallback, ...claimed }: ClaimedCall,
    error: unknown,
    durationMs: number,
    signal: AbortSignal,
  ): Promise<CallOutcome | null> {
    const isGivenUp = signal.aborted;
    const { spent, response } = error instanceof ModelError ? error : {};
    const failure = failureOf(error, claimed);
    const isLeft = !isGivenUp && failure.retryInMs === undefined && fallsBackOn(failure.code);
    const next = isLeft ? fallback : null;
    // If a call was given up because its execution ended, the code that ended the execution ends the call.
    if (!isGivenUp || spent !== undefined) {
      const end = callEnd(durationMs, spent ?? null, toError(failure), { response });
      await keep(id, spent, async () => {
        if (next === null || spent !== undefined) await endCall(query, id, attempt, spent, end);
        if (next !== null) await fallBack(query, id, attempt, end);
      });
    }
    if (signal.reason instanceof ExecutionEndedError) return outcomeOf(await completeExecution(query, id, onEnd));
    if (isGivenUp) {
      // Otherwise it would count as a call during which a process crashed.
      if (spent === undefined)
        await endCall(query, id, attempt, undefined, callEnd(durationMs, null, GIVEN_UP)).catch(() => {});
      throw error;
    }
    if (next !== null) return { fallback: next, because: `${failure.code}: ${failure.message}` };
    throw toApplicationFailure(failure, error);
  }

  /**
   * Stores the end of a call whose response is not kept. Paid calls are stored even if the database is down for a while.
   * Otherwise the next claim would find a call without an end.
   */
  async function keep(id: string, spent: Spent | undefined, store: () => Promise<void>): Promise<void> {
    try {
      await untilDatabaseAnswers(store, spent === undefined ? graceOver : undefined);
    } catch (error) {
      const { tokens, cost } = spent ?? {};
      log.error({ err: error, execution_id: id, tokens, cost }, 'cannot store the outcome and cost of a call');
    }
  }

  /** Claims an execution to call its model. The workflow waits for a longer outage of the database, without holding a slot. */
  async function claimInTime(id: string, mayBeSuspect: boolean) {
    if (stopping.aborted) throw new Error('This worker is stopping; another one makes the call.');
    const until = Date.now() + claimWithinMs;
    const isStartedHere = startLimiter.callBegan(id);
    return untilDatabaseAnswers(() => claimExecution(query, id, { isNotified: !isStartedHere, mayBeSuspect }), {
      throwIfAborted() {
        if (stopping.aborted || Date.now() > until) throw new Error('PostgreSQL does not answer.');
      },
    });
  }

  /** @returns `suspect` if it is isolated and cannot be called yet */
  async function callInPlace(
    id: string,
    workspace: string,
    inputChars: number,
    mayBeSuspect: boolean,
  ): Promise<CallOutcome | 'suspect' | null> {
    const isLarge = inputChars >= LARGE_CHARS && !stopping.aborted;
    const endTurn = isLarge ? await turns.take(workspace, { signal: () => stopping, group: 'calls' }) : () => {};
    if (inFlight.has(id)) {
      endTurn();
      return joinCall(id, workspace);
    }
    const claim = await claimInTime(id, mayBeSuspect).finally(() => endTurn());
    if (claim === 'nothing') return null;
    if (claim === 'exhausted') throw toApplicationFailure(EXHAUSTED, undefined);
    if (claim === 'poison') throw toApplicationFailure(PROCESS_ENDED, undefined);
    if (claim === 'suspect') return claim;
    if (!('attempt' in claim)) return { ...claim, because: `${EXHAUSTED.code}: ${EXHAUSTED.message}` };
    return joinCall(id, workspace, claim);
  }

  /** Makes a claimed call, or waits for the one in flight. */
  function joinCall(id: string, workspace: string, claimed?: ClaimedCall): Promise<CallOutcome | null> {
    return inFlight.join(id, async (signal) => {
      // An earlier attempt's call has just ended: the next attempt finds its result.
      if (claimed === undefined) throw new Error('There is no longer a call in flight.');
      return call(id, workspace, claimed, signal);
    });
  }

  /** Calls the model in a slot of the workspace and, if isolated, in its turn. */
  async function callInTurn(
    id: string,
    workspace: string,
    inputChars: number,
    mayBeSuspect = false,
  ): Promise<CallOutcome | null> {
    const entered = await slots.enterCall(workspace, id, inputWeight(inputChars));
    if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs };
    const outcome = await callInPlace(id, workspace, inputChars, mayBeSuspect).finally(() => entered.release());
    if (outcome !== 'suspect') return outcome;
    const alone = await slots.enterSetAside(workspace, id);
    if ('comeBackInMs' in alone) return { heldBackMs: alone.comeBackInMs };
    return callInTurn(id, workspace, inputChars, true).finally(() => alone.release());
  }

  return {
    /**
     * Calls the model and stores its response, or returns the model to call next. Does nothing if there is already a response,
     * nothing is left to run, or the workspace has reached its limit of calls in flight.
     * @param workspace public id
     * @param inputChars of the execution
     * @throws ApplicationFailure with the model's error code as type
     */
    async callModel(
      executionId: string,
      workspace: string,
      inputChars: number,
      _traceparent?: string,
    ): Promise<CallOutcome | null> {
      // A call that Temporal timed out still holds its slot.
      const outcome = await (inFlight.has(executionId)
        ? joinCall(executionId, workspace)
        : callInTurn(executionId, workspace, inputChars));
      if (outcome !== null && 'status' in outcome) await startLimiter.untilQuiet(TELL_WITHIN_MS);
      return outcome;
    },

    /**
     * Marks an execution that has its response as completed and writes its event; an ended or withdrawn one stays unchanged.
     * @returns how it ended
     */
    async recordCompletion(executionId: string, _traceparent?: string): Promise<ExecutionStatus | 'withdrawn'> {
      return (await completeExecution(query, executionId, onEnd)) ?? 'withdrawn';
    },

    /**
     * Marks an execution as failed with its error and its event, or as canceled (null); an ended one stays unchanged.
     * @returns how it ended
     */
    async recordFailure(
      executionId: string,
      error: { code: string; message: string } | null,
      _traceparent?: string,
    ): Promise<ExecutionStatus | 'withdrawn'> {
      const status = await failExecution(query, executionId, error, onEnd);
      // This runs in the worker that has the call, so it also ends a call that started after the notification.
      inFlight.giveUp(executionId);
      return status ?? 'withdrawn';
    },
  };
}
