import type { Logger } from 'pino';
import { publicId } from '../../domain/ids.ts';
import { improvementWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { improvePrompt } from '../../workflows/improve-prompt.ts';
import type { ImprovementRow } from './improvements.ts';

/** The improvement that a workflow is started for. */
export type StoredImprovement = Pick<
  ImprovementRow,
  'id' | 'workspace_id' | 'prompt_name' | 'prompt_version' | 'dataset_name' | 'dataset_version'
>;

export type ImprovementDeps = WorkflowStarter & { log: Logger };

/**
 * Starts the workflow of a stored improvement, also again after its workflow has ended: a retry continues the same row.
 * @returns false if it is running
 */
export function startImprovementWorkflow(starter: WorkflowStarter, improvement: StoredImprovement): Promise<boolean> {
  const { id, workspace_id: workspaceId, prompt_name: prompt, prompt_version: version } = improvement;
  const dataset = `${improvement.dataset_name} v${improvement.dataset_version}`;
  const summary = `improves ${prompt} v${version} on ${dataset}`;
  return startWorkflow<typeof improvePrompt>(
    starter,
    {
      type: 'improvePrompt',
      id: improvementWorkflowId(id),
      queue: 'evaluations',
      workspaceId,
      args: [{ improvementId: id, what: summary }],
      summary,
      memo: {
        improvement: publicId('improvement', id),
        workspace: publicId('workspace', workspaceId),
        prompt,
        dataset,
      },
      attributes: { prompt },
    },
    { restarts: true },
  );
}
