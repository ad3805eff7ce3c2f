import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { CHANNELS, type Listener } from '../../db/listener.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { Models } from '../../models/model.ts';
import { ModelError } from '../../models/model-error.ts';
import { type ClaimedCall, claimExecution } from '../../services/executions/claim-execution.ts';
import { failExecution } from '../../services/executions/end-execution.ts';
import { endedOf } from '../../services/executions/executions.ts';
import { completeExecution, payForExecution, storeResponse } from '../../services/executions/store-response.ts';
import type { Places } from '../../temporal/places.ts';
import { createCallsInFlight, ExecutionEndedError, exhausted, toFailure, unstorable } from '../model-call.ts';

export interface ExecutionActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
  places: Places;
  /** Aborted when this process is asked to stop: no call is begun any more. */
  stopping: AbortSignal;
  /** Aborted when calls in flight have had `SHUTDOWN_GRACE` to end. */
  graceOver: AbortSignal;
  listener: Listener;
  log: Logger;
}

const CLAIM_WITHIN_MS = 10_000;

/** How calling a model ended. */
export type CallOutcome =
  | { status: ExecutionStatus }
  /** The workspace has all the calls in flight that it may have: nothing was done. Ask again after so long, or when invited. */
  | { heldBackMs: number };

export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

/** The steps of the workflow `executePrompt`. Each can be run again without harm. */
export function createExecutionActivities({
  db,
  models,
  modelTimeoutMs,
  stopping,
  graceOver,
  places,
  listener,
  log,
}: ExecutionActivityDeps) {
  const inFlight = createCallsInFlight();
  graceOver.addEventListener('abort', () => inFlight.giveUpAll(graceOver.reason), { once: true });
  const query = db.system.query;
  listener.on(CHANNELS.executionFinished, inFlight.giveUp);
  // What was not heard meanwhile.
  listener.onReconnected(() => {
    const ids = inFlight.ids();
    if (ids.length === 0) return;
    endedOf(query, ids).then(
      (ended) => ended.forEach(inFlight.giveUp),
      (error: unknown) => log.warn({ err: error }, 'cannot look for executions that have ended'),
    );
  });

  /** Makes a claimed call and stores its response, or at least what it cost. @throws ApplicationFailure */
  async function call(id: string, claimed: ClaimedCall, signal: AbortSignal): Promise<ExecutionStatus | undefined> {
    const { attempt } = claimed;
    let paid: { tokens: TokenUsage; cost: Cost } | undefined;
    try {
      const response = await models.generate({ ...claimed, signal, timeoutMs: modelTimeoutMs });
      paid = response;
      // The response is paid for, so it is stored even when the database is away for a while.
      return await untilDatabaseAnswers(() => storeResponse(query, id, attempt, response));
    } catch (error) {
      if (error instanceof ModelError) paid = error.spent;
      if (paid !== undefined) await pay(id, attempt, paid);
      if (signal.reason instanceof ExecutionEndedError) return await completeExecution(query, id);
      // The same response would be refused again, and has been paid for.
      if (paid !== undefined && !(error instanceof ModelError)) throw unstorable(error);
      throw signal.aborted ? error : toFailure(error, claimed);
    }
  }

  /** Stores what a call was billed whose response is not kept. */
  async function pay(id: string, attempt: number, spent: { tokens: TokenUsage; cost: Cost }): Promise<void> {
    try {
      await untilDatabaseAnswers(() => payForExecution(query, id, attempt, spent));
    } catch (error) {
      log.error({ err: error, execution_id: id, ...spent }, 'cannot store what a call has cost');
    }
  }

  /** Takes an execution to call its model. A longer outage is waited for by the workflow, which holds no slot meanwhile. */
  async function claimInTime(id: string) {
    if (stopping.aborted) throw new Error('This worker stops; another one makes the call.');
    const until = Date.now() + CLAIM_WITHIN_MS;
    return untilDatabaseAnswers(() => claimExecution(query, id), {
      throwIfAborted() {
        if (stopping.aborted || Date.now() > until) throw new Error('PostgreSQL does not answer.');
      },
    });
  }

  async function callInPlace(id: string): Promise<{ status: ExecutionStatus } | null> {
    let claimed: ClaimedCall | undefined;
    if (!inFlight.has(id)) {
      const claim = await claimInTime(id);
      if (claim === 'nothing') return null;
      if (claim === 'exhausted') throw exhausted();
      claimed = claim;
    }
    let status: ExecutionStatus | undefined;
    await inFlight.join(id, async (signal) => {
      // An earlier attempt's call has just ended: the next attempt finds its result.
      if (claimed === undefined) throw new Error('There is no call in flight any more.');
      status = await call(id, claimed, signal);
    });
    return status === undefined ? null : { status };
  }

  return {
    /**
     * Calls the model and stores its response. Does nothing where there is a response already, nothing to run any more, or the
     * workspace has all the calls in flight that it may have.
     * @param workspace public id
     * @throws ApplicationFailure with the model's error code as type
     */
    async callModel(executionId: string, workspace: string): Promise<CallOutcome | null> {
      // A call that Temporal lost sight of has its place.
      if (inFlight.has(executionId)) return callInPlace(executionId);
      const entered = await places.enterCall(workspace, executionId);
      if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs };
      try {
        return await callInPlace(executionId);
      } finally {
        entered.release();
      }
    },

    /**
     * Marks an execution that has its response as completed, with its event; one that has ended or was withdrawn stays as it is.
     * @returns how it ended
     */
    async recordCompletion(executionId: string): Promise<ExecutionStatus | 'withdrawn'> {
      return (await completeExecution(query, executionId)) ?? 'withdrawn';
    },

    /**
     * Marks an execution as failed with its error and its event, or (null) as canceled; one that has ended stays as it is.
     * @returns how it ended
     */
    async recordFailure(
      executionId: string,
      error: { code: string; message: string } | null,
    ): Promise<ExecutionStatus | 'withdrawn'> {
      const status = await failExecution(query, executionId, error);
      // It runs in the worker that has the call: a call that was not in flight yet when the notification came ends now.
      inFlight.giveUp(executionId);
      return status ?? 'withdrawn';
    },
  };
}
