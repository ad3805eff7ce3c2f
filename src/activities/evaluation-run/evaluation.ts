import { ApplicationFailure } from '@temporalio/activity';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import {
  failRun,
  markRunRunning,
  pauseRunForBudget,
  type RunControl,
  readNewRunControl,
} from '../../services/evaluations/control/run-control.ts';
import type { RunRef } from '../../services/evaluations/creation/run-spec.ts';
import { costByBatch } from '../../services/evaluations/run/costs.ts';
import { type FinishedRun, finishRun } from '../../services/evaluations/run/finish-run.ts';
import { describeProgress, type RunProgress, sumUpRun } from '../../services/evaluations/run/sum-up.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { type HeldBack, whenAdmitted } from '../scoring/batch-attempts.ts';
import { RunFailedError } from '../scoring/run-failed-error.ts';
import { type BatchDeps, type BatchInput, type BatchResult, createBatchRunner } from './run-batch.ts';

export type EvaluationControl = RunControl;
export type { RunProgress };

export type EvaluationActivities = ReturnType<typeof createEvaluationActivities>;

/** The steps of the workflow `evaluationRun`. Each is idempotent. */
export function createEvaluationActivities(deps: BatchDeps) {
  const { db, slots } = deps;
  const query = db.system.query;
  const runBatch = createBatchRunner(deps);

  return {
    /** The state of the run from its row; null if the row is gone. */
    readControl: (run: RunRef): Promise<RunControl | null> => readNewRunControl(query, run),

    /** Moves the run from `scheduled` to `running` and determines its baseline run. */
    markRunning: (run: RunRef): Promise<void> => markRunRunning(query, run),

    /** Pauses a run whose budget is used up, unless its cap was raised in the meantime. */
    pauseForBudget: (run: RunRef, maxCostUsd: number): Promise<void> => pauseRunForBudget(query, run, maxCostUsd),

    /** Ends a run that cannot continue. */
    async failEvaluation(run: RunRef, error: { code: string; message: string }): Promise<void> {
      if (await failRun(query, run, error)) deps.onEvaluationEnd?.('failed');
    },

    /** The cost of earlier rounds of this evaluation by batch, in US dollars. */
    readSpending: ({ evaluationId }: RunRef, batchSize: number): Promise<Record<number, number>> =>
      costByBatch(query, evaluationId, batchSize),

    /** Stores the current sums with the run and returns them as text. */
    async sumUpProgress({ evaluationId }: RunRef): Promise<RunProgress> {
      return describeProgress(await sumUpRun(query, evaluationId));
    },

    /**
     * Sums up, compares with the baseline, marks the run as completed and writes its events.
     * @returns the outcome; `incomplete` if nothing was done because examples have no result
     */
    finishEvaluation: async (run: RunRef): Promise<FinishedRun> => {
      const finish = (giveUp: AbortSignal) => untilDatabaseAnswers(() => finishRun(db.system, run), giveUp);
      const outcome = await withHeartbeats(finish, 'summing up');
      if (outcome === 'completed') deps.onEvaluationEnd?.('completed');
      return outcome;
    },

    /**
     * Runs one batch. It skips examples that have a result, so it can always be repeated. If the run is paused, it starts no
     * more examples and waits for those in flight. If the workspace has enough batches in flight, it is deferred.
     * @throws ApplicationFailure, not retryable, if no call can succeed: credentials or model are wrong, or the examples are
     * gone
     */
    async runBatch(batch: BatchInput): Promise<BatchResult | HeldBack> {
      try {
        return await whenAdmitted(batch, () => slots.enterBatch(batch.workspace, batch), runBatch);
      } catch (error) {
        if (!(error instanceof RunFailedError)) throw error;
        throw ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true });
      }
    },
  };
}
