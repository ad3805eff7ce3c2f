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
  /** Of the process, by workspaces' public ids. */
  turns: Turns;
  startLimiter: Pick<StartLimiter, 'callBegan' | 'untilQuiet'>;
  streams: StreamWriter;
  /** Aborted when this process is asked to stop: no call is begun any more. */
  stopping: AbortSignal;
  /** Aborted when calls in flight have had `SHUTDOWN_GRACE` to end. */
  graceOver: AbortSignal;
  /** How long an execution is tried to be taken while the database is away. Default: 10 s. */
  claimWithinMs?: number;
  listener: Listener;
  log: Logger;
  /** Told of each execution that is ended here. */
  onExecutionEnd?: OnExecutionEnd;
}

/** From here on an input is read in a turn: it may be JSON, which is parsed then. */
const LARGE_CHARS = 256 * 1024;
/** A longer outage of the database is waited for by the workflow. */
const CLAIM_WITHIN_MS = 10_000;

/**
 * An execution that has ended is known to have: to its row, its caller and its webhooks. Temporal, for which that is as much work as a
 * start, is told when no start is under way here, and so much later at the latest.
 */
const TELL_WITHIN_MS = 150;

/** How calling a model ended. */
export type CallOutcome =
  | { status: ExecutionStatus }
  /** The workspace has all the calls in flight that it may have: nothing was done. Ask again after so long, or when invited. */
  | { heldBackMs: number }
  /** The model has failed for good, and its row says by now that this one is called next. */
  | { fallback: string; because: string };

/** How an execution ended; null: ask its row. */
const outcomeOf = (status: ExecutionStatus | undefined): CallOutcome | null =>
  status === undefined ? null : { status };
const toError = ({ code, message }: CallFailure): ExecutionError => ({ code, message });

export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

/**
 * The steps of the workflow `executePrompt`. Each can be run again without harm. The `_traceparent` of each is the trace that the execution belongs
 * to, for who traces activities.
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
  // What was not heard meanwhile.
  listener.onReconnected(() => {
    const ids = inFlight.ids();
    if (ids.length === 0) return;
    endedOf(query, ids).then(
      (ended) => ended.forEach(inFlight.giveUp),
      (error: unknown) => log.warn({ err: error }, 'cannot look for executions that have ended'),
    );
  });

  /**
   * Makes a claimed call and stores its response, or at least how it ended and what it cost.
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
      // The response is paid for, so it is stored even when the database is away for a while.
      return outcomeOf(await untilDatabaseAnswers(() => storeResponse(query, id, claimed.attempt, response, onEnd)));
    } catch (error) {
      const end = callEnd(response.modelMs, response, toError(UNSTORABLE));
      await keep(id, response, () => endCall(query, id, claimed.attempt, response, end));
      if (signal.reason instanceof ExecutionEndedError) return outcomeOf(await completeExecution(query, id, onEnd));
      // The same response would be refused again, and has been paid for.
      throw toApplicationFailure(UNSTORABLE, error);
    }
  }

  /** The one place where the model of an execution is called. What somebody reads as a stream is passed on as it comes. */
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

  /** Stores how a call failed, and has the next model called where this one failed for good. @throws ApplicationFailure */
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
    // A call that was given up since the execution has ended is ended by whoever ended that.
    if (!isGivenUp || spent !== undefined) {
      const end = callEnd(durationMs, spent ?? null, toError(failure), { response });
      await keep(id, spent, async () => {
        if (next === null || spent !== undefined) await endCall(query, id, attempt, spent, end);
        if (next !== null) await fallBack(query, id, attempt, end);
      });
    }
    if (signal.reason instanceof ExecutionEndedError) return outcomeOf(await completeExecution(query, id, onEnd));
    if (isGivenUp) {
      // Or it would count as a call during which a process has ended.
      if (spent === undefined)
        await endCall(query, id, attempt, undefined, callEnd(durationMs, null, GIVEN_UP)).catch(() => {});
      throw error;
    }
    if (next !== null) return { fallback: next, because: `${failure.code}: ${failure.message}` };
    throw toApplicationFailure(failure, error);
  }

  /**
   * Stores how a call ended whose response is not kept. What was paid for is stored even when the database is away for a while.
   * Without it, the next claim finds a call without an end.
   */
  async function keep(id: string, spent: Spent | undefined, store: () => Promise<void>): Promise<void> {
    try {
      await untilDatabaseAnswers(store, spent === undefined ? graceOver : undefined);
    } catch (error) {
      const { tokens, cost } = spent ?? {};
      log.error({ err: error, execution_id: id, tokens, cost }, 'cannot store the outcome and cost of a call');
    }
  }

  /** Takes an execution to call its model. A longer outage of the database is waited for by the workflow, which holds no slot meanwhile. */
  async function claimInTime(id: string, mayBeSuspect: boolean) {
    if (stopping.aborted) throw new Error('This worker stops; another one makes the call.');
    const until = Date.now() + claimWithinMs;
    const isStartedHere = startLimiter.callBegan(id);
    return untilDatabaseAnswers(() => claimExecution(query, id, { isNotified: !isStartedHere, mayBeSuspect }), {
      throwIfAborted() {
        if (stopping.aborted || Date.now() > until) throw new Error('PostgreSQL does not answer.');
      },
    });
  }

  /** @returns `suspect` where it is set aside, and may not be called yet */
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
      if (claimed === undefined) throw new Error('There is no call in flight any more.');
      return call(id, workspace, claimed, signal);
    });
  }

  /** Calls the model in a place of the workspace, and where it is set aside, in its turn. */
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
     * Calls the model and stores its response, or says which model is called next. Does nothing where there is a response
     * already, nothing to run any more, or the workspace has all the calls in flight that it may have.
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
      // A call that Temporal lost sight of has its place.
      const outcome = await (inFlight.has(executionId)
        ? joinCall(executionId, workspace)
        : callInTurn(executionId, workspace, inputChars));
      if (outcome !== null && 'status' in outcome) await startLimiter.untilQuiet(TELL_WITHIN_MS);
      return outcome;
    },

    /**
     * Marks an execution that has its response as completed, with its event; one that has ended or was withdrawn stays as it is.
     * @returns how it ended
     */
    async recordCompletion(executionId: string, _traceparent?: string): Promise<ExecutionStatus | 'withdrawn'> {
      return (await completeExecution(query, executionId, onEnd)) ?? 'withdrawn';
    },

    /**
     * Marks an execution as failed with its error and its event, or (null) as canceled; one that has ended stays as it is.
     * @returns how it ended
     */
    async recordFailure(
      executionId: string,
      error: { code: string; message: string } | null,
      _traceparent?: string,
    ): Promise<ExecutionStatus | 'withdrawn'> {
      const status = await failExecution(query, executionId, error, onEnd);
      // It runs in the worker that has the call: a call that was not in flight yet when the notification came ends now.
      inFlight.giveUp(executionId);
      return status ?? 'withdrawn';
    },
  };
}
