import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { RuleBatchInput, ScoringActivities } from '../activities/score-executions/scoring.ts';
import { durationText } from '../domain/text/duration-text.ts';

export interface ScoreExecutionsInput extends Omit<RuleBatchInput, 'suspicion'> {
  /** Only for operators. */
  what: string;
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
}

/** A deferred batch can be tried again. */
export const placeFree = defineSignal<[string]>('placeFree');

const MAX_HISTORY_EVENTS = 1_000;

const { scoreDue } = proxyActivities<ScoringActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * Scores the executions that are due for a rule or a backfill, batch by batch, until none is left. The due work is in rows; a
 * recurring task starts this workflow if there is any, even if an earlier run was lost or ended from outside.
 */
export async function scoreExecutions(input: ScoreExecutionsInput): Promise<void> {
  const { kind, id, workspace, what, maxHistoryEvents = MAX_HISTORY_EVENTS } = input;
  let offered = false;
  setHandler(placeFree, () => {
    offered = true;
  });
  let suspicion: RuleBatchInput['suspicion'];
  for (let batch = 1; ; batch += 1) {
    if (workflowInfo().historyLength > maxHistoryEvents) await continueAsNew<typeof scoreExecutions>(input);
    setCurrentDetails(what);
    offered = false;
    const summary = `batch ${batch} of ${what}`;
    const work = { kind, id, workspace, ...(suspicion && { suspicion }) };
    const result = await scoreDue.executeWithOptions({ summary }, [work]);
    if ('heldBackMs' in result) {
      suspicion = result.suspicion;
      const wait = `deferred because the workspace has enough batches in progress; tries again in ${durationText(result.heldBackMs)}`;
      setCurrentDetails(`${what}\n\n${wait}`);
      await condition(() => offered, result.heldBackMs, { summary: wait });
      continue;
    }
    suspicion = undefined;
    if (!result.more) return;
  }
}
