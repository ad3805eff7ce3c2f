import { Context } from '@temporalio/activity';
import type { Database } from '../../db/database.ts';
import type { ExecutionStatus } from '../../domain/execution-states.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { Models } from '../../models/model.ts';
import { ModelError } from '../../models/model-error.ts';
import { answerExecution, completeExecution, payForExecution } from '../../services/executions/answer-execution.ts';
import { type ClaimedCall, claimExecution } from '../../services/executions/claim-execution.ts';
import { failExecution } from '../../services/executions/end-execution.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { type CallsUnderWay, callOnce, exhausted, toFailure, unstorable } from '../model-call.ts';
import type { Places } from '../places.ts';
import { untilDatabaseAnswers } from '../until-database-answers.ts';

export interface ExecutionActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
  places: Places;
  /** Aborted when this process is asked to stop: no call is begun any more. */
  stopping: AbortSignal;
}

/** How calling a model ended. */
export type CallOutcome =
  | { status: ExecutionStatus }
  /** The workspace has enough calls under way: nothing was done. Ask again after so long, or when invited. */
  | { heldBackMs: number };

export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

/** The steps of the workflow `executePrompt`. Each can be run again without harm. */
export function createExecutionActivities({ db, models, modelTimeoutMs, stopping, places }: ExecutionActivityDeps) {
  const underWay: CallsUnderWay = new Map();
  const query = db.system.query;

  /** Makes a claimed call and stores its answer, or what it cost all the same. @throws ApplicationFailure */
  async function call(id: string, claimed: ClaimedCall, signal: AbortSignal): Promise<ExecutionStatus | undefined> {
    const { attempt } = claimed;
    let paid: { tokens: TokenUsage; cost: Cost } | undefined;
    try {
      const answer = await models.generate({ ...claimed, signal, timeoutMs: modelTimeoutMs });
      paid = answer;
      // The answer is paid for: the database may be away for a while, it is stored all the same.
      return await untilDatabaseAnswers(() => answerExecution(query, id, attempt, answer));
    } catch (error) {
      if (error instanceof ModelError) paid = error.spent;
      if (paid !== undefined) await pay(id, attempt, paid);
      // The same answer would be refused again, and has been paid for.
      if (paid !== undefined && !(error instanceof ModelError)) throw unstorable(error);
      throw signal.aborted ? error : toFailure(error, claimed.isLastAttempt);
    }
  }

  /** What a call was billed whose answer is not kept. */
  async function pay(id: string, attempt: number, spent: { tokens: TokenUsage; cost: Cost }): Promise<void> {
    try {
      await untilDatabaseAnswers(() => payForExecution(query, id, attempt, spent));
    } catch (error) {
      Context.current().log.error('cannot store what a call has cost', { executionId: id, ...spent, error });
    }
  }

  async function callInPlace(executionId: string): Promise<{ status: ExecutionStatus } | null> {
    const giveUp = AbortSignal.any([Context.current().cancellationSignal, stopping]);
    let claimed: ClaimedCall | undefined;
    if (!underWay.has(executionId)) {
      // Another worker begins it.
      giveUp.throwIfAborted();
      const claim = await withHeartbeats(() => untilDatabaseAnswers(() => claimExecution(query, executionId), giveUp));
      if (claim === 'nothing') return null;
      if (claim === 'exhausted') throw exhausted();
      claimed = claim;
    }
    let status: ExecutionStatus | undefined;
    await callOnce(underWay, executionId, async (signal) => {
      // An earlier attempt's call ended just now: the next attempt finds what came of it.
      if (claimed === undefined) throw new Error('There is no call under way any more.');
      status = await call(executionId, claimed, signal);
    });
    return status === undefined ? null : { status };
  }

  return {
    /**
     * Calls the model and stores its answer. Does nothing where there is an answer already, nothing to run any more, or the
     * workspace has enough calls under way.
     * @param workspace public id
     * @throws ApplicationFailure with the model's error code as type
     */
    async callModel(executionId: string, workspace: string): Promise<CallOutcome | null> {
      // A call that Temporal lost sight of has its place.
      if (underWay.has(executionId)) return callInPlace(executionId);
      const entered = await places.enterCall(workspace, executionId);
      if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs };
      try {
        return await callInPlace(executionId);
      } finally {
        entered.release();
      }
    },

    /**
     * Marks an answered execution as completed, with its event; one that has ended or was withdrawn stays as it is.
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
      return (await failExecution(query, executionId, error)) ?? 'withdrawn';
    },
  };
}
