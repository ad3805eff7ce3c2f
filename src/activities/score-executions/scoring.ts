import { Context } from '@temporalio/activity';
import type { BatchDeps } from '../evaluation-run/run-batch.ts';
import { type Suspicion, suspicionOf } from '../evaluation-run/suspects.ts';
import { createRuleBatchRunner, type RuleBatchInput, type RuleBatchResult } from './run-rule-batch.ts';

export type { RuleBatchInput };

/** The result of a batch, or `heldBackMs` if the workspace has enough batches in flight and nothing was done. */
type BatchOutcome = RuleBatchResult | { heldBackMs: number; suspicion?: Suspicion };

export type ScoringActivities = ReturnType<typeof createScoringActivities>;

/** The step of the workflow `scoreExecutions`. */
export function createScoringActivities(deps: BatchDeps) {
  const runBatch = createRuleBatchRunner(deps);
  return {
    /** Scores what is due for a rule or a backfill. It is idempotent. */
    async scoreDue(input: RuleBatchInput): Promise<BatchOutcome> {
      const suspicion = suspicionOf(Context.current().info, input.suspicion);
      const known = suspicion && { suspicion };
      const entered = await deps.slots.enterScan(input.workspace, input);
      if ('comeBackInMs' in entered) return { heldBackMs: entered.comeBackInMs, ...known };
      try {
        return await runBatch({ ...input, ...known });
      } finally {
        entered.release();
      }
    },
  };
}
