import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Database } from '../db/database.ts';
import type { Models } from '../models/model.ts';
import { finishRun } from '../services/evaluations/finish-run.ts';
import { costOfRange, loadOpenExamples, loadRunSpec, type OpenExample } from '../services/evaluations/results-store.ts';
import {
  failRun,
  markRunRunning,
  pauseRunForBudget,
  type RunControl,
  readRunControl,
} from '../services/evaluations/run-control.ts';
import { runSchedule } from '../services/evaluations/run-schedule.ts';
import { describeProgress, sumUpRun } from '../services/evaluations/sum-up.ts';
import type { WorkflowStarter } from '../services/run-execution.ts';
import { BatchBudget } from './batch-budget.ts';
import { runPool } from './example-pool.ts';
import { ExampleRunner, HopelessRunError } from './example-runner.ts';
import { createPatientModels } from './patient-call.ts';
import { untilDatabaseAnswers } from './until-database-answers.ts';

export type EvaluationControl = RunControl;

export interface BatchInput {
  evaluationId: string;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
  /** Calls in flight. */
  concurrency: number;
  /** What the whole batch may have cost when the work on it stops, in US dollars; null: no limit. */
  spendUpToUsd: number | null;
}

export interface BatchResult {
  /** Every example of the batch has its final result. */
  finished: boolean;
  /** The money left was not enough for one example. */
  starved: boolean;
  /** What the whole batch has cost by now, in US dollars. */
  costUsd: number;
}

export interface EvaluationActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
  starter: WorkflowStarter;
}

export type EvaluationActivities = ReturnType<typeof createEvaluationActivities>;

const HEARTBEAT_MS = 1_000;
/** A process that stood still for this long has been given up for dead: its batch is somebody else's by now. */
const FROZEN_MS = 6_000;
/** Without a known price, an example is expected to cost nothing until one has been seen. */
const EXPECTED_OUTPUT_TOKENS = 500;

/** What one example is expected to cost before any has been seen. */
function expectedCostUsd(models: Models, model: string, templateLength: number, maxTokens: number | undefined): number {
  const price = models.priceOf(model);
  if (price === null) return 0;
  const input = (templateLength / 3) * Number(price.input_per_million);
  const output = (maxTokens ?? EXPECTED_OUTPUT_TOKENS) * Number(price.output_per_million);
  return (input + output) / 1e6;
}

/** The steps of the workflow `evaluationRun`. Each can be run again without harm. */
export function createEvaluationActivities({ db, models, modelTimeoutMs, starter }: EvaluationActivityDeps) {
  const query = db.system.query;
  const patient = createPatientModels(models);
  /** Examples of this process that have not ended, by run and number. */
  const underWay = new Map<string, Promise<number>>();

  return {
    /** What the row says at the moment; null where it is gone. */
    readControl: (evaluationId: string): Promise<RunControl | null> => readRunControl(query, evaluationId),

    /** From `scheduled` to `running`; settles which run is the baseline. */
    markRunning: (evaluationId: string): Promise<void> => markRunRunning(query, evaluationId),

    /** Pauses a run whose budget is used up, unless its cap was raised meanwhile. */
    pauseForBudget: (evaluationId: string, maxCostUsd: number): Promise<void> =>
      pauseRunForBudget(query, evaluationId, maxCostUsd),

    /** Ends a run that has no hope. */
    failEvaluation: (evaluationId: string, error: { code: string; message: string }): Promise<void> =>
      failRun(query, evaluationId, error),

    /** Stores the sums so far with the run and gives them in words. */
    async sumUpProgress(evaluationId: string): Promise<string> {
      return describeProgress(await sumUpRun(query, evaluationId));
    },

    /** Starts the evaluation of a schedule that is due, and says what happened. */
    startScheduledEvaluation: (scheduleId: string, occurrence: string): Promise<string> =>
      runSchedule({ db, models, starter }, scheduleId, occurrence),

    /** Sums up, compares with the baseline, marks the run as completed and writes its events. */
    finishEvaluation: (evaluationId: string): Promise<void> =>
      untilDatabaseAnswers(() => finishRun(db.system, evaluationId)),

    /**
     * Works through one batch. Examples that have their result are skipped, so the batch can be run again after anything.
     * When the run is paused, no more examples are begun and those in flight are waited for.
     * @throws ApplicationFailure, not retryable, where no call can succeed: credentials or model are wrong
     */
    async runBatch({ evaluationId, from, to, concurrency, spendUpToUsd }: BatchInput): Promise<BatchResult> {
      const context = Context.current();
      const spec = await untilDatabaseAnswers(() => loadRunSpec(query, evaluationId));
      if (spec === undefined) return { finished: false, starved: false, costUsd: 0 };
      const spent = () => untilDatabaseAnswers(() => costOfRange(query, evaluationId, from, to));
      const expected = expectedCostUsd(models, spec.model, spec.template.length, spec.parameters.max_tokens);
      const budget = new BatchBudget(spendUpToUsd, spendUpToUsd === null ? 0 : await spent(), expected);
      const runner = new ExampleRunner({ query, models: patient, modelTimeoutMs }, evaluationId, spec);
      const watch = watchBatch(context, async () => {
        const control = await readRunControl(query, evaluationId);
        return control === null || control.status === 'ended';
      });

      /** An earlier attempt of this batch in this process may still be at work on it. */
      function runExample(example: OpenExample): Promise<number> {
        const name = `${evaluationId}/${example.seq}`;
        const running = underWay.get(name) ?? runner.run(example, watch.giveUp).finally(() => underWay.delete(name));
        underWay.set(name, running);
        return running;
      }

      try {
        const { finished, starved } = await runPool({
          from,
          concurrency,
          budget,
          loadPage: (seq, limit) =>
            untilDatabaseAnswers(() => loadOpenExamples(query, evaluationId, spec, seq, to, limit)),
          runExample,
          stopped: watch.stopped,
        });
        return { finished, starved, costUsd: await spent() };
      } catch (error) {
        if (error instanceof HopelessRunError)
          throw ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true });
        if (watch.giveUp.aborted) return { finished: false, starved: false, costUsd: await spent() };
        throw error;
      } finally {
        watch.end();
      }
    },
  };
}

/**
 * Heartbeats of a batch, and when to stop. Asked to stop, it begins no more examples; calls in flight are given up only
 * where nobody wants their answers any more (`isOver`) or this process must end.
 */
function watchBatch(context: Context, isOver: () => Promise<boolean>) {
  const giveUp = new AbortController();
  let stopped = false;
  let lastBeat = Date.now();
  const isFrozen = () => Date.now() - lastBeat > FROZEN_MS;
  const timer = setInterval(() => {
    if (isFrozen()) stopped = true;
    lastBeat = Date.now();
    context.heartbeat();
  }, HEARTBEAT_MS);
  context.cancelled.catch(async (reason: unknown) => {
    stopped = true;
    const details = context.cancellationDetails;
    if (details?.cancelRequested && (await isOver().catch(() => false))) giveUp.abort(reason);
  });
  return {
    giveUp: giveUp.signal,
    stopped: () => stopped || isFrozen(),
    end: () => clearInterval(timer),
  };
}
