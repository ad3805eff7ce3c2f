import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchResult, EvaluationActivities, EvaluationControl } from '../activities/evaluation.ts';
import { type BatchProgress, BatchQueue, type BatchTicket, NO_PROGRESS } from '../domain/batch-queue.ts';
import { batchRange, type EvaluationPlan, planEvaluation } from '../domain/evaluation-plan.ts';

export interface EvaluationRunInput {
  /** UUID of the row in `evaluations`: what to run is there, not in the history. */
  evaluationId: string;
  /** Where the run before this one left off. */
  progress?: BatchProgress;
}

/** The row has changed: paused, resumed, canceled, or a new cap. What it says now is read, so that signals may be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** Where the run stands, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

const PROGRESS_EVERY_MS = [5_000, 10_000, 30_000, 60_000];
/** Far below Temporal's limit of 51,200 events. */
const MAX_HISTORY_EVENTS = 4_000;

const { runBatch, finishEvaluation } = proxyActivities<EvaluationActivities>({
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

const { readControl, markRunning, pauseForBudget, failEvaluation, sumUpProgress } =
  proxyLocalActivities<EvaluationActivities>({
    startToCloseTimeout: '15 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
  });

/**
 * Runs a stored evaluation: waits until it is due, works through its examples in batches, waits while it is paused or its
 * budget is used up, and sums it up. Continues as new when its history has grown, with what is left to do.
 */
export async function evaluationRun({ evaluationId, progress = NO_PROGRESS }: EvaluationRunInput): Promise<void> {
  let changed = false;
  let details = 'starting';
  setHandler(controlChanged, () => {
    changed = true;
  });
  setHandler(progressQuery, () => details);
  const show = (text: string) => {
    details = text;
    setCurrentDetails(text);
  };
  const readAgain = () => {
    changed = false;
    return readControl(evaluationId);
  };

  let queue: BatchQueue | undefined;
  for (;;) {
    const control = await readAgain();
    if (control === null || control.status === 'ended') return show(await sumUpProgress(evaluationId));
    if (control.status === 'paused') {
      show(`paused: ${control.reason ?? 'by request'}`);
      await condition(() => changed);
      continue;
    }
    if (control.status === 'scheduled') {
      show(control.waitMs > 0 ? `waiting for ${control.startAt}` : 'starting');
      if (control.waitMs > 0 && (await condition(() => changed, control.waitMs))) continue;
      await markRunning(evaluationId);
      continue;
    }

    const plan = planEvaluation(control.examplesTotal, control.concurrency);
    queue ??= new BatchQueue(plan.batches, plan.lanes.length, progress);
    const outcome = await runBatches({ evaluationId, control, plan, queue, show, readAgain, isChanged: () => changed });
    if (outcome === 'done') break;
    if (outcome === 'hopeless') return;
    if (outcome === 'budget used up') await pauseForBudget(evaluationId, control.maxCostUsd ?? 0);
    if (outcome === 'history full')
      await continueAsNew<typeof evaluationRun>({ evaluationId, progress: queue.progress });
  }
  show('summing up');
  await finishEvaluation(evaluationId);
  show(await sumUpProgress(evaluationId));
}

interface BatchRun {
  evaluationId: string;
  control: EvaluationControl;
  plan: EvaluationPlan;
  queue: BatchQueue;
  show(text: string): void;
  readAgain(): Promise<EvaluationControl | null>;
  isChanged(): boolean;
}

type Outcome = 'done' | 'interrupted' | 'budget used up' | 'history full' | 'hopeless';

/** Works on batches, one a lane, until nothing is left, the run is to stop, or its money or its history is used up. */
async function runBatches(run: BatchRun): Promise<Outcome> {
  const { evaluationId, plan, queue } = run;
  const examples = run.control.examplesTotal;
  let maxCostUsd = run.control.maxCostUsd;
  let stop: Outcome | undefined;
  let failure: unknown;
  let returned = 0;
  const scope = new CancellationScope();

  /** Another lane may bring back money or an unfinished batch. */
  async function untilAnotherReturns(): Promise<void> {
    const before = returned;
    await condition(() => returned !== before || stop !== undefined);
  }

  async function lane(concurrency: number): Promise<void> {
    let starved = false;
    while (stop === undefined) {
      if (workflowInfo().historyLength > MAX_HISTORY_EVENTS) stop = 'history full';
      if (stop !== undefined || queue.empty) return;
      const ticket = queue.take(maxCostUsd, { all: starved && queue.active === 0 });
      if (ticket === undefined && queue.active === 0) return;
      if (ticket === undefined) {
        await untilAnotherReturns();
        continue;
      }
      const result = await workOn(ticket, concurrency);
      queue.giveBack(ticket, result.finished, result.costUsd);
      returned += 1;
      starved = result.starved;
      if (starved && ticket.all) stop ??= 'budget used up';
      else if (starved && queue.active > 0) await untilAnotherReturns();
    }
  }

  async function workOn(ticket: BatchTicket, concurrency: number): Promise<BatchResult> {
    const { from, to } = batchRange(plan, ticket.batch, examples);
    const summary = `examples ${from + 1} to ${to} of ${examples}, ${concurrency} at a time`;
    const { spendUpToUsd } = ticket;
    try {
      return await runBatch.executeWithOptions({ summary }, [{ evaluationId, from, to, concurrency, spendUpToUsd }]);
    } catch (error) {
      if (stop === undefined) {
        stop = 'hopeless';
        failure = error;
        scope.cancel();
      }
      return { finished: false, starved: false, costUsd: ticket.spentUsd };
    }
  }

  let finished = false;
  const lanes = scope
    .run(() => Promise.all(plan.lanes.map(lane)))
    .finally(() => {
      finished = true;
    });
  const reporting = reportProgress(run, () => finished);
  while (!finished) {
    await condition(() => run.isChanged() || finished);
    if (finished) break;
    const control = await run.readAgain();
    if (control?.status === 'running') maxCostUsd = control.maxCostUsd;
    else {
      stop ??= 'interrupted';
      scope.cancel();
      break;
    }
  }
  await lanes;
  await reporting;
  if (stop === 'hopeless') {
    await failEvaluation(evaluationId, failureOf(failure));
    run.show(`failed: ${failureOf(failure).message}`);
  }
  return stop ?? (queue.empty ? 'done' : 'budget used up');
}

/** Keeps the current details and the row's sums fresh, often at first and ever less often. */
async function reportProgress({ evaluationId, show }: BatchRun, isFinished: () => boolean): Promise<void> {
  for (let turn = 0; ; turn++) {
    const wait = PROGRESS_EVERY_MS[Math.min(Math.floor(turn / 6), PROGRESS_EVERY_MS.length - 1)] ?? 60_000;
    if (await condition(isFinished, wait)) return;
    show(await sumUpProgress(evaluationId));
  }
}

function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return { code: error.cause.type ?? 'model_unavailable', message: error.cause.message };
  return { code: 'model_unavailable', message: 'The run was stopped from outside.' };
}
