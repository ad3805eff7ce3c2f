import type { BatchDeps } from '../evaluation-run/run-batch.ts';
import { type HeldBack, whenAdmitted } from '../scoring/batch-attempts.ts';
import { createRuleBatchRunner, type RuleBatchInput, type RuleBatchResult } from './run-rule-batch.ts';

export type { RuleBatchInput };

export type ScoringActivities = ReturnType<typeof createScoringActivities>;

/** The step of the workflow `scoreExecutions`. */
export function createScoringActivities(deps: BatchDeps) {
  const runBatch = createRuleBatchRunner(deps);
  return {
    /** Scores what is due for a rule or a backfill. It is idempotent. */
    scoreDue: (input: RuleBatchInput): Promise<RuleBatchResult | HeldBack> =>
      whenAdmitted(input, () => deps.slots.enterScan(input.workspace, input), runBatch),
  };
}
