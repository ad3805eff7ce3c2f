import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
} from '@temporalio/workflow';
import type { EvaluationControl } from '../activities/evaluation-run/evaluation.ts';
import type { BatchInput, BatchResult } from '../activities/evaluation-run/run-batch.ts';
import type { BatchQueue, BatchTicket } from '../domain/batch-queue.ts';
import { batchRange, type EvaluationPlan } from '../domain/evaluations/evaluation-plan.ts';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';
import { evaluationActivities, evaluationSteps } from './evaluation-proxies.ts';
import { checksAgain, type FollowedRow } from './follow-row.ts';

const { runBatch } = evaluationActivities;
const { sumUpProgress } = evaluationSteps;

/**
 * The delay until the first poll of the progress; doubles each time up to the maximum. Every poll stays in the history; in
 * between, the heartbeats of the batches report progress.
 */
const FIRST_POLL_MS = 5_000;
const MAX_POLL_MS = 15 * 60_000;

export interface BatchRun {
  ref: { evaluationId: string; round: number };
  /** Public id. */
  workspace: string;
  /** The trace that the batches link to. */
  trace: Pick<BatchInput, 'traceparent'>;
  /** Deferred batches that can be tried again, by the number of their first example. */
  offered: Set<number>;
  control: EvaluationControl;
  plan: EvaluationPlan;
  queue: BatchQueue;
  row: FollowedRow<EvaluationControl>;
}

/** `interrupted`: the row no longer allows it to run, or the history is full. `failed`: no call can succeed. */
export interface BatchesEnd {
  outcome: 'done' | 'interrupted' | 'budget used up' | 'failed';
  /** The cap in effect at the end. */
  maxCostUsd: number | null;
  /** The reason for a failure. */
  error?: { code: string; message: string };
}

/** Runs batches, one in each lane, until nothing is left, the run must stop, its budget is used up or its history is full. */
export async function runBatches(run: BatchRun): Promise<BatchesEnd> {
  const { ref, workspace, trace, plan, queue, row } = run;
  const examples = run.control.examplesTotal;
  let { maxCostUsd } = run.control;
  let stop: BatchesEnd['outcome'] | undefined;
  let error: BatchesEnd['error'];
  /** Counts the changes that may let a waiting lane continue. */
  let changes = 0;
  const batches = new CancellationScope();

  function interrupt(outcome: 'interrupted' | 'failed'): void {
    stop ??= outcome;
    batches.cancel();
  }

  /** Another lane may return money or an unfinished batch. */
  async function untilChange(): Promise<void> {
    const before = changes;
    await condition(() => changes !== before || stop !== undefined);
  }

  async function lane(concurrency: number): Promise<void> {
    let starved = false;
    while (stop === undefined && !queue.empty) {
      const ticket = queue.take(maxCostUsd, { all: starved });
      if (ticket === undefined && queue.active === 0) return;
      if (ticket === undefined) {
        await untilChange();
        continue;
      }
      const result = await runOne(ticket, concurrency);
      queue.giveBack(ticket, result);
      changes += 1;
      starved = result.starved;
      // The other lanes finish their batches, unless that takes longer than until the next poll.
      if (row.isHistoryFull) stop ??= 'interrupted';
      else if (starved && ticket.all) stop ??= 'budget used up';
      else if (starved && queue.active > 0) await untilChange();
    }
  }

  async function heldBack(from: number, examplesText: string, waitMs: number): Promise<void> {
    const why = 'the workspace has enough batches in progress';
    const untilText = clockText(Date.now() + waitMs);
    row.note(from, `${examplesText}: waits for a free slot, until ${untilText} at the latest, because ${why}`);
    try {
      const summary = `${examplesText}: tries again in ${durationText(waitMs)} because ${why}`;
      await condition(() => run.offered.has(from), waitMs, { summary });
    } finally {
      row.note(from, undefined);
    }
  }

  async function runOne(ticket: BatchTicket, concurrency: number): Promise<BatchResult> {
    const { from, to } = batchRange(plan, ticket.batch, examples);
    const summary = `examples ${from + 1} to ${to} of ${examples}, ${concurrency} at a time`;
    const { spendUpToUsd, all: isAllThereIs, probe } = ticket;
    const { estimate } = queue.progress;
    try {
      return await batches.run(async () => {
        let suspicion: BatchInput['suspicion'];
        for (;;) {
          run.offered.delete(from);
          const budget = { spendUpToUsd, isAllThereIs, ...(probe && { probe }), ...(estimate && { estimate }) };
          const input = {
            ...ref,
            workspace,
            from,
            to,
            concurrency,
            ...budget,
            ...(suspicion && { suspicion }),
            ...trace,
          };
          const result = await runBatch.executeWithOptions({ summary }, [input]);
          if (!('heldBackMs' in result)) return result;
          suspicion = result.suspicion;
          await heldBack(from, `examples ${from + 1} to ${to}`, result.heldBackMs);
        }
      });
    } catch (thrown) {
      if (isCancellation(thrown)) stop ??= 'interrupted';
      else if (stop === undefined) {
        error = errorOf(thrown);
        interrupt('failed');
      }
      return { finished: false, starved: false, costUsd: ticket.spentUsd };
    }
  }

  let finished = false;
  const lanes = Promise.all(plan.lanes.map(lane)).finally(() => {
    finished = true;
  });
  let seen = 'under way';
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(MAX_POLL_MS, waitMs * 2)) {
    const changed = await row.wait(waitMs, checksAgain(seen, waitMs), () => finished);
    if (finished) break;
    if (!changed) {
      const progress = await sumUpProgress(ref);
      row.show(progress.details);
      seen = progress.line;
    }
    // Also without a signal, because sending it may have failed.
    const control = await row.read();
    if (control?.status !== 'running' || row.isHistoryFull) {
      interrupt('interrupted');
      break;
    }
    if (control.maxCostUsd !== maxCostUsd) changes += 1;
    maxCostUsd = control.maxCostUsd;
  }
  await lanes;
  return { outcome: stop ?? (queue.empty ? 'done' : 'budget used up'), maxCostUsd, ...(error && { error }) };
}

function errorOf(thrown: unknown): { code: string; message: string } {
  if (thrown instanceof ActivityFailure && thrown.cause instanceof ApplicationFailure)
    return { code: thrown.cause.type ?? 'model_unavailable', message: thrown.cause.message };
  return { code: 'internal_error', message: 'The run could not continue.' };
}
