import { publicId } from '../../domain/ids.ts';
import { scoringWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter, type WorkflowToStart } from '../../temporal/workflows.ts';
import type { scoreExecutions } from '../../workflows/score-executions.ts';

/** The row of a rule or a backfill. */
export interface StoredWork {
  kind: 'rule' | 'backfill';
  id: string;
  workspace_id: string;
  /** The name of the rule. */
  name: string;
}

/**
 * Starts the workflow that scores due executions.
 * @returns false if it is running
 */
export function startScoringWorkflow(
  starter: WorkflowStarter,
  { kind, id, workspace_id: workspaceId, name }: StoredWork,
): Promise<boolean> {
  const workspace = publicId('workspace', workspaceId);
  const summary = kind === 'rule' ? `rule ${name}` : `backfill of the rule ${name}`;
  const workflow: WorkflowToStart<Parameters<typeof scoreExecutions>> = {
    type: 'scoreExecutions',
    id: scoringWorkflowId(kind, id),
    queue: 'evaluations',
    workspaceId,
    args: [{ kind, id, workspace, what: summary }],
    summary,
    memo: { workspace, rule: name, ...(kind === 'backfill' && { backfill: publicId('backfill', id) }) },
  };
  return startWorkflow(starter, workflow, { restarts: true });
}
