import { publicId } from '../../domain/ids.ts';
import { scoringWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter, type WorkflowToStart } from '../../temporal/workflows.ts';
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
