import { ApplicationFailure, Context } from '@temporalio/activity';
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
import { type BatchDeps, type BatchInput, type BatchResult, createBatchRunner } from './run-batch.ts';
import { RunFailedError } from './run-failed-error.ts';
import { type Suspicion, suspicionOf } from './suspects.ts';

export type EvaluationControl = RunControl;
export type { RunProgress };

/** What came of a batch, or (`heldBackMs`) that the workspace has enough of them in flight: nothing was done. */
type BatchOutcome = BatchResult | { heldBackMs: number; suspicion?: Suspicion };

export type EvaluationActivities = ReturnType<typeof createEvaluationActivities>;

/** The steps of the workflow `evaluationRun`. Each can be run again without harm. */
export function createEvaluationActivities(deps: BatchDeps) {
  const { db, slots } = deps;
  const query = db.system.query;
  const runBatch = createBatchRunner(deps);

  return {
    /** The state of the run, as its row has it; null where it is gone. */
    readControl: (run: RunRef): Promise<RunControl | null> => readNewRunControl(query, run),

    /** From `scheduled` to `running`; settles which run is the baseline. */
    markRunning: (run: RunRef): Promise<void> => markRunRunning(query, run),

    /** Pauses a run whose budget is used up, unless its cap was raised meanwhile. */
    pauseForBudget: (run: RunRef, maxCostUsd: number): Promise<void> => pauseRunForBudget(query, run, maxCostUsd),

    /** Ends a run that can't go on. */
    async failEvaluation(run: RunRef, error: { code: string; message: string }): Promise<void> {
      if (await failRun(query, run, error)) deps.onEvaluationEnd?.('failed');
    },

    /** What earlier rounds of this evaluation have cost, by batch, in US dollars. */
    readSpending: ({ evaluationId }: RunRef, batchSize: number): Promise<Record<number, number>> =>
      costByBatch(query, evaluationId, batchSize),

    /** Stores the sums so far with the run and returns them as a text. */
    async sumUpProgress({ evaluationId }: RunRef): Promise<RunProgress> {
      return describeProgress(await sumUpRun(query, evaluationId));
    },

    /**
     * Sums up, compares with the baseline, marks the run as completed and writes its events.
     * @returns what came of it; `incomplete`: nothing was done, since examples have no result
     */
    finishEvaluation: async (run: RunRef): Promise<FinishedRun> => {
      const finish = (giveUp: AbortSignal) => untilDatabaseAnswers(() => finishRun(db.system, run), giveUp);
      const outcome = await withHeartbeats(finish, 'summing up');
      if (outcome === 'completed') deps.onEvaluationEnd?.('completed');
      return outcome;
    },

    /**
     * Runs one batch. Examples that have their result are skipped, so the batch can be run again after anything.
     * When the run is paused, no more examples are begun and those in flight are waited for.
     * Where the workspace has enough batches in flight, it is held back.
     * @throws ApplicationFailure, not retryable, where no call can succeed: credentials or model are wrong, or the
     * examples are gone
     */
    async runBatch(batch: BatchInput): Promise<BatchOutcome> {
      const suspicion = suspicionOf(Context.current().info, batch.suspicion);
      const known = suspicion && { suspicion };
      const entered = await slots.enterBatch(batch.workspace, batch);
      if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs, ...known };
      try {
        return await runBatch({ ...batch, ...known });
      } catch (error) {
        if (!(error instanceof RunFailedError)) throw error;
        throw ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true });
      } finally {
        entered.release();
      }
    },
  };
}
