import type { WorkflowHandle } from '@temporalio/client';
import type { RuleBatchInput, ScoringActivities } from '../../src/activities/score-executions/scoring.ts';
import type { ScoreExecutionsInput } from '../../src/workflows/score-executions.ts';
import type { Path } from './histories.ts';

/** The result of a step, in order. `fails`: the attempt is retried. */
export type FakeBatch = { more: boolean } | { heldBackMs: number } | 'fails';

export interface ScoreExecutionsPath extends Path {
  /** The input of each attempt at a step. */
  given: RuleBatchInput[];
  batches: readonly FakeBatch[];
}

/** A path through `scoreExecutions`. */
export function scoreExecutionsPath(
  name: string,
  batches: readonly FakeBatch[],
  {
    meanwhile,
    ...input
  }: {
    meanwhile?: (handle: WorkflowHandle, given: readonly RuleBatchInput[]) => Promise<void>;
  } & Partial<ScoreExecutionsInput> = {},
): ScoreExecutionsPath {
  const given: RuleBatchInput[] = [];
  const activities: ScoringActivities = {
    async scoreDue(work) {
      const batch = batches[given.length];
      given.push(work);
      if (batch === 'fails') throw new Error('the database is away');
      return batch ?? { more: false };
    },
  };
  const work = { kind: 'rule', id: '0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', workspace: 'ws_1', what: 'rule tone' };
  return {
    name,
    workflow: 'scoreExecutions',
    args: [{ ...work, ...input }],
    activities: activities as unknown as Path['activities'],
    given,
    batches,
    ...(meanwhile && { meanwhile: (handle: WorkflowHandle) => meanwhile(handle, given) }),
  };
}
