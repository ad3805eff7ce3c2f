import {
  continueAsNew,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  startChild,
  TemporalFailure,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { ChildToStart, ImprovementActivities, ImprovementView } from '../activities/improve-prompt/improvement.ts';
import { checksAgain, type FollowedRow, followRow, POLL_AGAIN_MS } from './follow-row.ts';
import { LOCAL_STEP } from './local-steps.ts';

export interface ImprovePromptInput {
  /** UUID of the row in `improvements`, which says what to do; the history does not. */
  improvementId: string;
  /** Only for operators. */
  what: string;
  /** When to continue as new. The default is far below Temporal's limit of 51,200 events. */
  maxHistoryEvents?: number;
}

const MAX_HISTORY_EVENTS = 8_000;
/** How often the row is read without the end of a child: one may have paused, or belong to an earlier workflow. */
const FIRST_POLL_MS = 1_000;
const MAX_POLL_MS = 30_000;

// It may read a thousand results, and store as many examples.
const { moveImprovement } = proxyActivities<Pick<ImprovementActivities, 'moveImprovement'>>({
  summary: 'takes the search as far as it gets without a model',
  startToCloseTimeout: '5 minutes',
  // Detects a dead worker soon.
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const { failImprovement } = proxyLocalActivities<Pick<ImprovementActivities, 'failImprovement'>>({
  ...LOCAL_STEP,
  summary: 'marks the search as failed: the workflow was canceled',
});

/**
 * Takes a stored search to its verdict. It only moves rows and runs what they ask for: evaluations and executions, as its
 * children, which continue without it. If the workflow is canceled from outside, the search fails, and can be retried.
 */
export function improvePrompt(input: ImprovePromptInput): Promise<void> {
  const { improvementId, maxHistoryEvents = MAX_HISTORY_EVENTS } = input;
  const following = {
    read: () => moveImprovement(improvementId),
    end: () => failImprovement(improvementId),
    maxHistoryEvents,
  };
  return followRow(following, (row) => runUntilEnded(row, input));
}

async function runUntilEnded(row: FollowedRow<ImprovementView>, input: ImprovePromptInput): Promise<void> {
  /** Children that were started, and whether one has ended since the row was read. */
  const started = new Set<string>();
  let hasEnded = false;
  const start = async ({ type, ...options }: ChildToStart): Promise<void> => {
    if (started.has(options.workflowId)) return;
    started.add(options.workflowId);
    try {
      const child = await startChild(type, {
        ...options,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      });
      const ended = () => {
        hasEnded = true;
      };
      child.result().then(ended, ended);
    } catch (error) {
      // By the reconciliation, or by the workflow that this one continues: its row shows its end.
      if (!(error instanceof TemporalFailure && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
    }
  };

  let ms = FIRST_POLL_MS;
  for (;;) {
    hasEnded = false;
    const now = await row.read();
    if (now === null) return;
    row.show(now.details);
    if (now.state === 'ended') return;
    if (row.isHistoryFull) await continueAsNew<typeof improvePrompt>(input);
    if (now.state === 'paused' && now.children.length === 0) {
      await row.wait(POLL_AGAIN_MS, checksAgain(now.summary, POLL_AGAIN_MS));
      continue;
    }
    await Promise.all(now.children.map(start));
    const isNews = await row.wait(ms, now.summary, () => hasEnded);
    ms = isNews ? FIRST_POLL_MS : Math.min(ms * 2, MAX_POLL_MS);
  }
}
