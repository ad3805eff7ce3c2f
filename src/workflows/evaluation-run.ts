import {
  continueAsNew,
  defineSignal,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { EvaluationControl } from '../activities/evaluation-run/evaluation.ts';
import type { ProviderBatchActivities } from '../activities/provider-batch/batch.ts';
import { type BatchProgress, BatchQueue, NO_PROGRESS } from '../domain/batch-queue.ts';
import { planEvaluation } from '../domain/evaluations/evaluation-plan.ts';
import { ENDED_BY_OPERATOR } from '../domain/evaluations/evaluation-states.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { type BatchRun, runBatches } from './evaluation-batches.ts';
import { evaluationActivities, evaluationSteps } from './evaluation-proxies.ts';
import { checksAgain, type FollowedRow, followRow, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

const step = <Name extends keyof ProviderBatchActivities>(name: Name, summary: string) =>
  proxyLocalActivities<ProviderBatchActivities>({ ...LOCAL_STEP, summary, startToCloseTimeout: '1 minute' })[name];

const planBatches = step('planBatches', 'checks the batches at providers, and starts the next one');
/** Signals the batches of a run that has ended. */
const tellBatches = step('tellBatches', 'notifies its batches that the run has ended');
const { failLeftovers } = proxyActivities<Pick<ProviderBatchActivities, 'failLeftovers'>>({
  summary: 'stores calls without a response as failed',
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * The delay until the first poll of the batches, which signal the run when they are submitted and when they end; later polls are
 * less frequent.
 */
const FIRST_POLL_MS = 60_000;

/**
 * Runs the providers' batches, first for responses and then for judges; the rest is called individually or was stored as
 * failed.
 * @returns false if the row no longer allows the run to continue, or its history is full
 */
async function runWaves({
  ref,
  trace,
  control,
  row,
}: Pick<BatchRun, 'ref' | 'trace' | 'control' | 'row'>): Promise<boolean> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(POLL_AGAIN_MS, 4 * waitMs)) {
    const { isDone, line, details } = await planBatches({ ...ref, ...trace });
    if (isDone) break;
    row.show(details);
    if (await row.wait(waitMs, checksAgain(line, waitMs))) waitMs = FIRST_POLL_MS;
    // Also without a signal, because sending it may have failed.
    if ((await row.read())?.status !== 'running' || row.isHistoryFull) return false;
  }
  if (control.batch?.then === 'fail') await failLeftovers(ref);
  return true;
}

export interface EvaluationRunInput {
  /** UUID of the row in `evaluations`, which says what to run; the history does not. */
  evaluationId: string;
  /** 0, or the number of the retry. */
  round: number;
  /** Public id. */
  workspace: string;
  /** Description for operators: the workflow summary, which a run that continues as new has lost. */
  what: string;
  /** The progress of the run that this one continues. */
  progress?: BatchProgress | undefined;
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
  /** The span that started it, in W3C Trace Context format; absent without tracing. */
  traceparent?: string;
}

/** A deferred batch can be tried again: the number of its first example. */
export const placeFree = defineSignal<[string]>('placeFree');

/** The patch that lets one lane of a run with a budget start alone until the cost of an example is known. */
// prose: recorded in histories
const PROBES = 'one lane begins alone';
const MAX_HISTORY_EVENTS = 4_000;

const { finishEvaluation } = evaluationActivities;
const { readControl, markRunning, pauseForBudget, failEvaluation, readSpending, sumUpProgress } = evaluationSteps;

/**
 * Runs a stored evaluation: waits until it is due, runs its examples in batches, waits while it is paused or its budget is used
 * up, and sums it up. Continues as new when its history has grown. If the workflow is canceled from outside, the evaluation
 * fails.
 */
export function evaluationRun(input: EvaluationRunInput): Promise<void> {
  const { evaluationId, round, maxHistoryEvents = MAX_HISTORY_EVENTS } = input;
  const ref = { evaluationId, round };
  const following = {
    read: () => readControl(ref),
    end: () => failEvaluation(ref, ENDED_BY_OPERATOR),
    maxHistoryEvents,
  };
  return followRow(following, (row) => runUntilEnded(row, ref, { ...input, maxHistoryEvents }));
}

async function runUntilEnded(
  row: FollowedRow<EvaluationControl>,
  ref: BatchRun['ref'],
  input: EvaluationRunInput,
): Promise<void> {
  const { workspace, traceparent } = input;
  const trace = traceparent === undefined ? {} : { traceparent };
  const offered = new Set<number>();
  setHandler(placeFree, (from) => {
    offered.add(Number(from));
  });

  let queue: BatchQueue | undefined;
  let reached = input.progress;
  for (;;) {
    const control = await row.read();
    if (control?.status === 'ended' && control.batch) await tellBatches(ref);
    if (control === null || control.status === 'ended') return row.show((await sumUpProgress(ref)).details);
    if (row.isHistoryFull)
      await continueAsNew<typeof evaluationRun>({ ...input, progress: queue?.progress ?? reached });
    if (control.status === 'paused') {
      const { details, line } = await sumUpProgress(ref);
      row.show(details, 'waits until it is resumed or canceled');
      await row.wait(POLL_AGAIN_MS, checksAgain(line, POLL_AGAIN_MS));
      continue;
    }
    if (control.status === 'scheduled') {
      if (control.waitMs > 0) {
        const start = `waiting until ${clockText(Date.parse(control.startAt ?? ''))}`;
        row.show(`${start}, its scheduled start`);
        await row.wait(Math.min(control.waitMs, POLL_AGAIN_MS), start);
      } else await markRunning(ref);
      continue;
    }

    if (control.batch && !(await runWaves({ ref, trace, control, row }))) continue;
    const plan = planEvaluation(control.examplesTotal, control.concurrency);
    if (queue === undefined) {
      // Also in the first round: an earlier workflow of the run may have been terminated, or lost with Temporal's state.
      const from = reached ?? { ...NO_PROGRESS, spentByBatchUsd: await readSpending(ref, plan.batchSize) };
      const probes = control.maxCostUsd !== null && plan.lanes.length > 1 && patched(PROBES);
      queue = new BatchQueue(plan, from, { probes });
    }
    const { outcome, maxCostUsd, error } = await runBatches({
      ref,
      workspace,
      trace,
      offered,
      control,
      plan,
      queue,
      row,
    });
    if (outcome === 'budget used up') await pauseForBudget(ref, maxCostUsd ?? 0);
    if (error !== undefined) await failEvaluation(ref, error);
    if (outcome === 'done') {
      const summary = `sums up ${control.examplesTotal} examples and compares them with the baseline`;
      row.show(summary);
      const finished = await finishEvaluation.executeWithOptions({ summary }, [{ ...ref, ...trace }]);
      // The database was restored to a point before some batches had ended: process examples without a result again.
      if (finished === 'incomplete') queue = reached = undefined;
    }
  }
}
