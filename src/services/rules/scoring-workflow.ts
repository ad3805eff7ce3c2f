import { TypedSearchAttributes } from '@temporalio/common';
import { publicId } from '../../domain/ids.ts';
import { SEARCH_ATTRIBUTES, scoringWorkflowId } from '../../temporal/names.ts';
import { startWorkflowUnlessRunning, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { scoreExecutions } from '../../workflows/score-executions.ts';

/** A rule or a backfill, as its row has it. */
export interface StoredWork {
  kind: 'rule' | 'backfill';
  id: string;
  workspace_id: string;
  /** Of the rule. */
  name: string;
}

/**
 * Starts the workflow that scores what is due.
 * @returns false where it is at work
 */
export function startScoringWorkflow(
  starter: WorkflowStarter,
  { kind, id, workspace_id, name }: StoredWork,
): Promise<boolean> {
  const workspace = publicId('workspace', workspace_id);
  const what = kind === 'rule' ? `rule ${name}` : `backfill of the rule ${name}`;
  return startWorkflowUnlessRunning<typeof scoreExecutions>({ ...starter, eager: false }, 'scoreExecutions', {
    priority: { fairnessKey: workspace },
    workflowId: scoringWorkflowId(kind, id),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ kind, id, workspace, what }],
    staticSummary: what,
    // A run that continues as new keeps the memo, but no summary.
    memo: { workspace, rule: name, ...(kind === 'backfill' && { backfill: publicId('backfill', id) }) },
    typedSearchAttributes: new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.workspace, value: workspace }]),
  });
}
