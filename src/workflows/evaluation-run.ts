import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { EvaluationControl } from '../activities/evaluation-run/evaluation.ts';
import { type BatchProgress, BatchQueue, NO_PROGRESS } from '../domain/batch-queue.ts';
import { planEvaluation } from '../domain/evaluations/evaluation-plan.ts';
import { ENDED_BY_OPERATOR } from '../domain/evaluations/evaluation-states.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { runBatches } from './evaluation-batches.ts';
import { RunDetails } from './evaluation-details.ts';
import { evaluationActivities, evaluationSteps } from './evaluation-proxies.ts';
import { runWaves, tellBatches } from './evaluation-waves.ts';

export interface EvaluationRunInput {
  /** UUID of the row in `evaluations`: what to run is there, not in the history. */
  evaluationId: string;
  /** 0, or the retry this is. */
  round: number;
  /** Public id. */
  workspace: string;
  /** What it runs, only for operators: the summary of the workflow, which a run that continues as new has lost. */
  what: string;
  /** The progress of the run that this one continues. */
  progress?: BatchProgress;
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
  /** The span that started it, as W3C Trace Context writes it; absent where nothing is traced. */
  traceparent?: string;
}

/** The row has changed: paused, resumed, canceled, or a new cap. The workflow then reads the row, so signals may be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** A batch that was held back may be tried again: the number of its first example. */
export const placeFree = defineSignal<[string]>('placeFree');
/** The progress of the run, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

/** The patch by which one lane of a run with a budget begins alone, until it is known what an example costs. */
const PROBES = 'one lane begins alone';
const MAX_HISTORY_EVENTS = 4_000;
/** How often a waiting run reads its row without a signal: whoever changed it may have been unable to send one. */
const LOOK_AGAIN_MS = 6 * 60 * 60_000;

const { finishEvaluation } = evaluationActivities;
const { readControl, markRunning, pauseForBudget, failEvaluation, readSpending, sumUpProgress } = evaluationSteps;

/**
 * Runs a stored evaluation: waits until it is due, runs its examples in batches, waits while it is paused or its budget is
 * used up, and sums it up. Continues as new when its history has grown. Where the workflow is canceled from outside, the
 * evaluation ends as failed.
 */
export async function evaluationRun(input: EvaluationRunInput): Promise<void> {
  const told = { changed: false, canceled: false };
  const canceled = CancellationScope.current().cancelRequested;
  canceled.catch(() => {
    told.changed = told.canceled = true;
  });
  await CancellationScope.nonCancellable(() => runUntilEnded(input, told));
  // Temporal shows a run that was canceled as such.
  if (told.canceled) await canceled;
}

async function runUntilEnded(
  {
    evaluationId,
    round,
    workspace,
    what,
    progress,
    maxHistoryEvents = MAX_HISTORY_EVENTS,
    traceparent,
  }: EvaluationRunInput,
  told: { changed: boolean; canceled: boolean },
): Promise<void> {
  const ref = { evaluationId, round };
  const trace = traceparent === undefined ? {} : { traceparent };
  const details = new RunDetails();
  let ended = false;
  setHandler(controlChanged, () => {
    told.changed = true;
  });
  const offered = new Set<number>();
  setHandler(placeFree, (from) => {
    offered.add(Number(from));
  });
  setHandler(progressQuery, () => details.text);
  const readAgain = async (): Promise<EvaluationControl | null> => {
    told.changed = false;
    if (told.canceled && !ended) await failEvaluation(ref, ENDED_BY_OPERATOR);
    ended = told.canceled;
    return readControl(ref);
  };
  const isHistoryFull = () => workflowInfo().historyLength > maxHistoryEvents;

  let queue: BatchQueue | undefined;
  let reached = progress;
  for (;;) {
    const control = await readAgain();
    if (control?.status === 'ended' && control.batch) await tellBatches(ref);
    if (control === null || control.status === 'ended') return details.show(await sumUpProgress(ref));
    if (isHistoryFull()) {
      const carried = queue?.progress ?? reached;
      await continueAsNew<typeof evaluationRun>({
        evaluationId,
        round,
        workspace,
        what,
        maxHistoryEvents,
        ...(carried && { progress: carried }),
        ...trace,
      });
    }
    if (control.status === 'paused') {
      const sums = await sumUpProgress(ref);
      details.show(sums, 'waits until it is resumed or canceled');
      await condition(() => told.changed, LOOK_AGAIN_MS, {
        summary: `${sums.line}; looks again in ${durationText(LOOK_AGAIN_MS)}`,
      });
      continue;
    }
    if (control.status === 'scheduled') {
      if (control.waitMs > 0) {
        const start = `waiting until ${clockText(Date.parse(control.startAt ?? ''))}`;
        details.showText(`${start}, when it is to start`);
        await condition(() => told.changed, Math.min(control.waitMs, LOOK_AGAIN_MS), { summary: start });
      } else await markRunning(ref);
      continue;
    }

    const isChanged = () => told.changed;
    if (control.batch && !(await runWaves({ ref, trace, control, details, readAgain, isChanged, isHistoryFull })))
      continue;
    const plan = planEvaluation(control.examplesTotal, control.concurrency);
    if (queue === undefined) {
      // Also in the first round: an earlier workflow of the run may have been terminated, or lost with Temporal's state.
      const from = reached ?? { ...NO_PROGRESS, spentByBatchUsd: await readSpending(ref, plan.batchSize) };
      const probes = control.maxCostUsd !== null && plan.lanes.length > 1 && patched(PROBES);
      queue = new BatchQueue(plan, from, { probes });
    }
    const run = { ref, workspace, trace, offered, control, plan, queue, details, readAgain, isChanged, isHistoryFull };
    const { outcome, maxCostUsd, error } = await runBatches(run);
    if (outcome === 'budget used up') await pauseForBudget(ref, maxCostUsd ?? 0);
    if (error !== undefined) await failEvaluation(ref, error);
    if (outcome === 'done') {
      const summary = `sums up ${control.examplesTotal} examples and compares them with the baseline`;
      details.showText(summary);
      const finished = await finishEvaluation.executeWithOptions({ summary }, [{ ...ref, ...trace }]);
      // The database was restored from before some batches had ended: they are worked on again, for what has no result.
      if (finished === 'incomplete') queue = reached = undefined;
    }
  }
}
