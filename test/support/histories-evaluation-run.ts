import { ApplicationFailure } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { EvaluationActivities, EvaluationControl } from '../../src/activities/evaluation-run/evaluation.ts';
import type { ProviderBatchActivities } from '../../src/activities/provider-batch/batch.ts';
import { type EvaluationRunInput, placeFree } from '../../src/workflows/evaluation-run.ts';
import { progressQuery } from '../../src/workflows/follow-row.ts';
import { change, type FakeRun, fakeRun, stepsOn, untilStopped } from './fake-evaluation-run.ts';
import type { Path } from './histories.ts';
import { until } from './wait-for.ts';

const { EventType } = proto.temporal.api.enums.v1;

type WaveActivities = Pick<ProviderBatchActivities, 'planBatches' | 'failLeftovers' | 'tellBatches'>;

/** A path with its run and the actions on it. */
export type EvaluationRunPath = Path & { run: FakeRun; does: string[] };

const INPUT: EvaluationRunInput = {
  evaluationId: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  round: 0,
  workspace: 'ws_test',
  what: 'support/greeting v3 on openai/gpt-4o-mini: 40 examples',
};
const UNFINISHED = { finished: false, starved: false, costUsd: 0 };

interface Parts {
  control?: Partial<EvaluationControl>;
  input?: Partial<EvaluationRunInput>;
  steps?: (run: FakeRun) => Partial<EvaluationActivities & WaveActivities>;
  meanwhile?: (handle: WorkflowHandle, run: FakeRun) => Promise<void>;
}

/** A path by name, with the actions on its run, and its differences from a successful one. */
export function evaluationRunPath(
  name: string,
  does: string[],
  { control, input, steps = () => ({}), meanwhile }: Parts = {},
): EvaluationRunPath {
  const run = fakeRun(control);
  return {
    name,
    does,
    run,
    workflow: 'evaluationRun',
    args: [{ ...INPUT, ...input }],
    activities: { ...stepsOn(run, steps(run)) },
    ...(meanwhile && { meanwhile: (handle) => meanwhile(handle, run) }),
  };
}

export const showing = (handle: WorkflowHandle, text: string) =>
  until(`"${text}" to be shown`, async () => (await handle.query(progressQuery)).includes(text));
export const working = (run: FakeRun, batches: number) =>
  until(`${batches} batches to be worked on`, async () => run.worked.length >= batches);

/**
 * Waits until the workflow knows the end of that many batches. The time-skipping server, unlike others, loses a workflow task that
 * stops a batch which has just ended.
 */
export const known = (handle: WorkflowHandle, batches: number) =>
  until(`${batches} batches to be known to have ended`, async () => {
    const { events } = await handle.fetchHistory();
    const types = (events ?? []).map(({ eventType }) => eventType);
    const ends = types.filter((type) => type === EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED);
    const isDone = types.lastIndexOf(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED);
    return ends.length >= batches && isDone > types.lastIndexOf(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED);
  });

/** The first batches end when they are stopped, the others successfully. */
export const stoppedFirst = (batches: number) => (run: FakeRun) => ({
  runBatch: () => (run.worked.length <= batches ? untilStopped() : Promise.resolve({ ...UNFINISHED, finished: true })),
});

const BATCH = { max_wait: 86_400, then: 'fail' } as const;

/** The run has a batch until it was polled this often. */
function waves(run: FakeRun, looks: number): WaveActivities {
  let left = looks;
  return {
    planBatches: async () => {
      left -= 1;
      return { isDone: left < 0, line: '1 of 1 batches', details: 'batch 1: in_progress' };
    },
    failLeftovers: async () => {
      run.did.push('leftovers failed');
    },
    tellBatches: async () => {
      run.did.push('told');
    },
  };
}

/** Every path through `evaluationRun`. */
export function evaluationRunPaths(): EvaluationRunPath[] {
  return [
    evaluationRunPath('completed', ['mark running', 'finish']),
    evaluationRunPath('completed-in-lanes', ['mark running', 'finish'], {
      control: { examplesTotal: 20_000, concurrency: 200 },
    }),
    evaluationRunPath('results-gone-with-a-restored-database', ['mark running', 'missing', 'finish'], {
      steps: (run) => ({
        finishEvaluation: async () => {
          const isMissing = !run.did.includes('missing');
          run.did.push(isMissing ? 'missing' : 'finish');
          if (isMissing) return 'incomplete';
          run.control.status = 'ended';
          return 'completed';
        },
      }),
    }),
    evaluationRunPath('held-back-and-invited', ['mark running', 'finish'], {
      steps: (run) => ({
        runBatch: async () => (run.worked.length === 1 ? { heldBackMs: 3_600_000 } : { ...UNFINISHED, finished: true }),
      }),
      meanwhile: async (handle, run) => {
        await working(run, 1);
        await handle.signal(placeFree, '0');
      },
    }),
    evaluationRunPath('paused-while-held-back', ['mark running', 'finish'], {
      steps: (run) => ({
        runBatch: async () => (run.worked.length === 1 ? { heldBackMs: 3_600_000 } : { ...UNFINISHED, finished: true }),
      }),
      meanwhile: async (handle, run) => {
        await known(handle, 1);
        await change(handle, run, { status: 'paused' });
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running' });
      },
    }),
    evaluationRunPath('canceled-before-it-was-due', [], {
      control: { waitMs: 3_600_000, startAt: '2026-01-31T12:00:00.000Z' },
      meanwhile: async (handle, run) => {
        await showing(handle, 'waiting until');
        await change(handle, run, { status: 'ended' });
      },
    }),
    evaluationRunPath('paused-and-resumed', ['mark running', 'finish'], {
      steps: stoppedFirst(1),
      meanwhile: async (handle, run) => {
        await working(run, 1);
        await change(handle, run, { status: 'paused' });
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running' });
      },
    }),
    evaluationRunPath('canceled-during-batches', ['mark running'], {
      control: { examplesTotal: 20_000, concurrency: 200 },
      steps: () => ({ runBatch: untilStopped }),
      meanwhile: async (handle, run) => {
        await working(run, 4);
        await change(handle, run, { status: 'ended' });
      },
    }),
    evaluationRunPath('paused-while-summing-up', ['mark running', 'finish'], {
      steps: (run) => {
        const { finishEvaluation } = stepsOn(run);
        let first = true;
        return {
          finishEvaluation: async (ref) => {
            if (first) run.control.status = 'paused';
            first = false;
            return finishEvaluation(ref);
          },
        };
      },
      meanwhile: async (handle, run) => {
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running' });
      },
    }),
    evaluationRunPath('failed-credentials', ['mark running', 'fail: model_authentication'], {
      control: { examplesTotal: 20_000, concurrency: 200 },
      steps: (run) => ({
        runBatch: async () => {
          if (run.worked.length < 4) return untilStopped();
          throw ApplicationFailure.create({
            type: 'model_authentication',
            message: 'No such key.',
            nonRetryable: true,
          });
        },
      }),
    }),
    evaluationRunPath('budget-used-up-and-raised', ['mark running', 'pause at 1', 'finish'], {
      control: { maxCostUsd: 1, examplesTotal: 10_000, concurrency: 100 },
      steps: (run) => ({
        runBatch: async ({ spendUpToUsd }) =>
          run.control.maxCostUsd === 1
            ? { finished: false, starved: true, costUsd: 0 }
            : { finished: true, starved: false, costUsd: (spendUpToUsd ?? 0) / 100 },
      }),
      meanwhile: async (handle, run) => {
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running', maxCostUsd: 5 });
      },
    }),
    evaluationRunPath('one-lane-begins-alone', ['mark running', 'finish'], {
      control: { maxCostUsd: 100, examplesTotal: 10_000, concurrency: 100 },
      steps: (run) => ({
        runBatch: async ({ probe }) => {
          if (probe && run.worked.length > 1) throw new Error('Only the first batch finds out what an example costs.');
          return {
            finished: !probe,
            starved: false,
            costUsd: 0.01,
            estimate: { meanUsd: 0.01, deviationUsd: 0, examples: 1 },
          };
        },
      }),
    }),
    evaluationRunPath('paused-while-lanes-wait-for-money', ['mark running', 'finish'], {
      control: { maxCostUsd: 1, examplesTotal: 10_000, concurrency: 100 },
      steps: (run) => ({
        runBatch: ({ probe }) => {
          if (probe) return Promise.resolve(UNFINISHED);
          if (run.worked.length === 2) return untilStopped();
          return Promise.resolve({ finished: run.worked.length > 3, starved: run.worked.length === 3, costUsd: 0 });
        },
      }),
      meanwhile: async (handle, run) => {
        await working(run, 3);
        await known(handle, 2);
        await change(handle, run, { status: 'paused' });
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running' });
      },
    }),
    evaluationRunPath('retry-with-what-was-spent', ['mark running', 'finish'], {
      control: { maxCostUsd: 1, status: 'scheduled' },
      input: { round: 1 },
      steps: () => ({ readSpending: async () => ({ 0: 0.25, 1: 0.5 }) }),
    }),
    evaluationRunPath('canceled-by-an-operator', ['mark running', 'fail: ended_by_operator'], {
      control: { examplesTotal: 10_000, concurrency: 100 },
      steps: () => ({ runBatch: untilStopped }),
      meanwhile: async (handle, run) => {
        await working(run, 2);
        await handle.cancel();
      },
    }),
    evaluationRunPath('batches-and-leftovers', ['mark running', 'leftovers failed', 'finish', 'told'], {
      control: { batch: BATCH },
      steps: (run) => waves(run, 1),
      meanwhile: async (handle, run) => {
        await showing(handle, 'batch 1');
        await change(handle, run, {});
      },
    }),
    evaluationRunPath('paused-and-canceled-during-batches', ['mark running', 'told'], {
      control: { batch: BATCH },
      steps: (run) => waves(run, 100),
      meanwhile: async (handle, run) => {
        await showing(handle, 'batch 1');
        await change(handle, run, { status: 'paused' });
        await showing(handle, 'paused');
        await change(handle, run, { status: 'running' });
        await showing(handle, 'batch 1');
        await change(handle, run, { status: 'ended' });
      },
    }),
    evaluationRunPath('gone', [], { steps: () => ({ readControl: async () => null }) }),
  ];
}
