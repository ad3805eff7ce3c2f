import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Database } from '../../db/database.ts';
import type { CostEstimate } from '../../domain/cost-estimate.ts';
import type { EvaluatorPool } from '../../evaluators/evaluator-pool.ts';
import type { Models } from '../../models/model.ts';
import { costByBatch, costOfRange } from '../../services/evaluations/costs.ts';
import { finishRun } from '../../services/evaluations/finish-run.ts';
import {
  loadOpenExamples,
  loadRunSpec,
  type OpenExample,
  type RunRef,
} from '../../services/evaluations/results-store.ts';
import {
  failRun,
  markRunRunning,
  pauseRunForBudget,
  type RunControl,
  readNewRunControl,
  readRunControl,
} from '../../services/evaluations/run-control.ts';
import { describeProgress, sumUpRun } from '../../services/evaluations/sum-up.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { createPatientModels } from '../patient-call.ts';
import type { Places } from '../places.ts';
import { isStillOurs } from '../still-ours.ts';
import { untilDatabaseAnswers } from '../until-database-answers.ts';
import { BatchBudget, type ExampleCost, firstEstimate } from './batch-budget.ts';
import { type BatchWatch, watchBatch } from './batch-watch.ts';
import { runPool } from './example-pool.ts';
import { ExampleRunner, HopelessRunError } from './example-runner.ts';
import { expectedCost } from './expected-cost.ts';

export type EvaluationControl = RunControl;

export interface BatchInput extends RunRef {
  /** Public id. */
  workspace: string;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
  /** Calls in flight. */
  concurrency: number;
  /** What the whole batch may have cost when the work on it stops, in US dollars; null: no limit. */
  spendUpToUsd: number | null;
  /** Whether that is all the money that the run has left. */
  isAllThereIs: boolean;
  /** What one example costs, as far as the run has seen. */
  estimate?: CostEstimate;
}

export interface BatchResult {
  /** Every example of the batch has its final result. */
  finished: boolean;
  /** The money left was not enough for one example. */
  starved: boolean;
  /** What the whole batch has cost by now, in US dollars. */
  costUsd: number;
  estimate?: CostEstimate;
}

/** What came of a batch, or (`heldBackMs`) that the workspace has enough of them under way: nothing was done. */
export type BatchOutcome = BatchResult | { heldBackMs: number };

export interface EvaluationActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
  evaluatorPool: EvaluatorPool;
  /** Aborted when this process is asked to stop: no call is begun any more. */
  stopping: AbortSignal;
  places: Places;
}

export type EvaluationActivities = ReturnType<typeof createEvaluationActivities>;

/** The steps of the workflow `evaluationRun`. Each can be run again without harm. */
export function createEvaluationActivities({
  db,
  models,
  modelTimeoutMs,
  evaluatorPool,
  stopping,
  places,
}: EvaluationActivityDeps) {
  const query = db.system.query;
  const patient = createPatientModels(models, places.calls);
  /** Examples of this process that have not ended, by evaluation and number. */
  const underWay = new Map<string, Promise<ExampleCost | undefined>>();
  /** The latest attempt of each batch that this process works on. */
  const attempts = new Map<string, BatchWatch>();

  async function workThrough({
    workspace,
    from,
    to,
    concurrency,
    spendUpToUsd,
    isAllThereIs,
    estimate: ofRun,
    ...run
  }: BatchInput): Promise<BatchResult> {
    const { evaluationId } = run;
    const context = Context.current();
    if (!(await isStillOurs(context))) throw new Error('This attempt was given up for dead before it began.');
    const watch = watchBatch(context, stopping, async () => {
      const control = await readRunControl(query, run);
      return control === null || control.status === 'ended';
    });
    const batchName = `${evaluationId}/${from}`;
    // Where Temporal lost sight of an earlier attempt, it may not know yet that this one has taken over.
    attempts.get(batchName)?.stop();
    attempts.set(batchName, watch);
    const nameOf = ({ seq }: OpenExample) => `${evaluationId}/${seq}`;
    /** Examples that an earlier attempt was at work on when they were loaded: they may have their result by now. */
    const doubtful = new Set<number>();
    let failure: { error: unknown } | undefined;
    const ask = <T>(statement: () => Promise<T>) => untilDatabaseAnswers(statement, watch.giveUp);
    const spent = () => ask(() => costOfRange(query, evaluationId, from, to));

    try {
      const spec = await ask(() => loadRunSpec(query, run));
      if (spec === undefined) throw hopeless('run_ended', 'The run has ended.');
      if (spec.examplesId === null) throw hopeless('dataset_deleted', 'The dataset of this run was deleted.');
      const load = (seq: number, before: number, limit: number) =>
        ask(() => loadOpenExamples(query, evaluationId, spec, seq, before, limit));
      const expected = expectedCost(models, spec);
      const before = await spent();
      const estimate = firstEstimate(ofRun, before, expected.totalUsd);
      const budget = new BatchBudget({ limitUsd: spendUpToUsd, spentUsd: before.costUsd, estimate, isAllThereIs });
      const pace = patient.of(workspace, evaluationId);
      const deps = { query, models: pace, modelTimeoutMs, evaluatorPool, expected };
      const runner = new ExampleRunner(deps, evaluationId, spec);

      async function loadPage(seq: number, limit: number): Promise<OpenExample[]> {
        const busy = new Set(underWay.keys());
        const page = await load(seq, to, limit);
        for (const example of page) if (busy.has(nameOf(example))) doubtful.add(example.seq);
        return page;
      }

      async function runExample(example: OpenExample, reservedUsd: number): Promise<ExampleCost | undefined> {
        let open = example;
        if (doubtful.delete(example.seq)) {
          const cost = await underWay.get(nameOf(example))?.catch(() => undefined);
          const [still] = await load(example.seq, example.seq + 1, 1);
          if (still === undefined) return cost;
          watch.stopWaiting.throwIfAborted();
          open = still;
        }
        const running = runner.run(open, watch, reservedUsd).finally(() => underWay.delete(nameOf(example)));
        underWay.set(nameOf(example), running);
        try {
          return await running;
        } catch (error) {
          if (!watch.stopped()) failure = { error };
          // The others need not wait for turns that lead nowhere.
          watch.stop();
          throw error;
        }
      }

      const { finished, starved } = await runPool({
        from,
        concurrency,
        budget,
        loadPage,
        runExample,
        stopped: () => watch.stopped(),
      });
      return { finished, starved, costUsd: (await spent()).costUsd, estimate: budget.estimate };
    } catch (error) {
      const cause = failure === undefined ? error : failure.error;
      if (cause instanceof HopelessRunError) throw hopeless(cause.code, cause.message);
      if (failure !== undefined || error instanceof ApplicationFailure || !watch.stopped()) throw cause;
      return { finished: false, starved: false, costUsd: (await spent()).costUsd };
    } finally {
      watch.end();
      if (attempts.get(batchName) === watch) attempts.delete(batchName);
    }
  }

  return {
    /** What the row says at the moment, for the workflow to go by; null where it is gone. */
    readControl: (run: RunRef): Promise<RunControl | null> => readNewRunControl(query, run),

    /** From `scheduled` to `running`; settles which run is the baseline. */
    markRunning: (run: RunRef): Promise<void> => markRunRunning(query, run),

    /** Pauses a run whose budget is used up, unless its cap was raised meanwhile. */
    pauseForBudget: (run: RunRef, maxCostUsd: number): Promise<void> => pauseRunForBudget(query, run, maxCostUsd),

    /** Ends a run that has no hope. */
    failEvaluation: (run: RunRef, error: { code: string; message: string }): Promise<void> =>
      failRun(query, run, error),

    /** What earlier goes at this evaluation have cost, by batch, in US dollars. */
    readSpending: ({ evaluationId }: RunRef, batchSize: number): Promise<Record<number, number>> =>
      costByBatch(query, evaluationId, batchSize),

    /** Stores the sums so far with the run and gives them in words. */
    async sumUpProgress({ evaluationId }: RunRef): Promise<string> {
      return describeProgress(await sumUpRun(query, evaluationId));
    },

    /**
     * Sums up, compares with the baseline, marks the run as completed and writes its events.
     * @returns false where the run was paused or ended meanwhile
     */
    finishEvaluation: (run: RunRef): Promise<boolean> =>
      withHeartbeats((giveUp) => untilDatabaseAnswers(() => finishRun(db.system, run), giveUp)),

    /**
     * Works through one batch. Examples that have their result are skipped, so the batch can be run again after anything.
     * When the run is paused, no more examples are begun and those in flight are waited for.
     * Where the workspace has enough batches under way, it is held back.
     * @throws ApplicationFailure, not retryable, where no call can succeed: credentials or model are wrong, or the
     * examples are gone
     */
    async runBatch(batch: BatchInput): Promise<BatchOutcome> {
      const entered = await places.enterBatch(batch.workspace, batch);
      if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs };
      try {
        return await workThrough(batch);
      } finally {
        entered.release();
      }
    },
  };
}

function hopeless(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
