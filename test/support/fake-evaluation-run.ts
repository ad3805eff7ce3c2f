import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { EvaluationActivities, EvaluationControl } from '../../src/activities/evaluation-run/evaluation.ts';
import type { BatchInput, BatchResult } from '../../src/activities/evaluation-run/run-batch.ts';
import { controlChanged } from '../../src/workflows/follow-row.ts';

/** A run as its row would have it. */
export interface FakeRun {
  control: EvaluationControl;
  /** Batches that were worked on, in order. */
  worked: BatchInput[];
  /** The actions on the row. */
  did: string[];
  /** How often the row was read. */
  reads: number;
}

export function fakeRun(control: Partial<EvaluationControl> = {}): FakeRun {
  const due = { startAt: null, waitMs: 0, examplesTotal: 5_000, concurrency: 20, maxCostUsd: null };
  return { control: { status: 'scheduled', ...due, ...control }, worked: [], did: [], reads: 0 };
}

/** Activities on that run that all succeed, unless overridden. */
export function stepsOn(run: FakeRun, others: Partial<EvaluationActivities> = {}): EvaluationActivities {
  const work = others.runBatch ?? (async () => ({ finished: true, starved: false, costUsd: 0 }));
  return {
    readControl: async () => {
      run.reads += 1;
      return { ...run.control };
    },
    markRunning: async () => {
      run.did.push('mark running');
      if (run.control.status === 'scheduled') run.control.status = 'running';
    },
    pauseForBudget: async (_ref, maxCostUsd) => {
      run.did.push(`pause at ${maxCostUsd}`);
      if ((run.control.maxCostUsd ?? 0) <= maxCostUsd) run.control.status = 'paused';
    },
    failEvaluation: async (_ref, { code }) => {
      run.did.push(`fail: ${code}`);
      run.control.status = 'ended';
    },
    readSpending: async () => ({}),
    sumUpProgress: async () => {
      const line = `${run.control.status}, ${run.worked.length} batches`;
      return { line, details: line };
    },
    finishEvaluation: async () => {
      if (run.control.status !== 'running') return 'left';
      run.did.push('finish');
      run.control.status = 'ended';
      return 'completed';
    },
    ...others,
    runBatch: async (batch) => {
      run.worked.push(batch);
      return work(batch);
    },
  };
}

/** Changes the row and signals the workflow, like the API. */
export async function change(handle: WorkflowHandle, run: FakeRun, control: Partial<EvaluationControl>): Promise<void> {
  Object.assign(run.control, control);
  await handle.signal(controlChanged);
}

/** A batch that ends unfinished when it is stopped. */
export async function untilStopped(): Promise<BatchResult> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), 50);
  await context.cancelled.catch(() => {});
  clearInterval(heartbeat);
  return { finished: false, starved: false, costUsd: 0 };
}
