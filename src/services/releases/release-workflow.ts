import type { Logger } from 'pino';
import { publicId } from '../../domain/ids.ts';
import { stepText } from '../../domain/releases/release.ts';
import { releaseWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { releasePrompt } from '../../workflows/release-prompt.ts';
import type { ReleaseRow } from './releases.ts';

/** The release that a workflow is started for. */
export type StoredRelease = Pick<
  ReleaseRow,
  'id' | 'workspace_id' | 'prompt_name' | 'label' | 'stable_version' | 'candidate_version' | 'steps'
>;

export type ReleaseDeps = WorkflowStarter & { log: Logger };

/** `support/greeting @production: version 3 → 7` */
const summaryOf = ({ prompt_name, label, stable_version, candidate_version }: StoredRelease) =>
  `${prompt_name} @${label}: version ${stable_version} → ${candidate_version}`;

/**
 * Starts the workflow of a stored release. Repeating it has no effect.
 * @returns false if it was already started
 */
export function startReleaseWorkflow(starter: WorkflowStarter, release: StoredRelease): Promise<boolean> {
  const { id, workspace_id: workspaceId, prompt_name: prompt, label } = release;
  const summary = summaryOf(release);
  return startWorkflow<typeof releasePrompt>(starter, {
    type: 'releasePrompt',
    id: releaseWorkflowId(id),
    queue: 'evaluations',
    workspaceId,
    args: [{ releaseId: id, what: summary }],
    summary,
    memo: {
      release: publicId('release', id),
      workspace: publicId('workspace', workspaceId),
      prompt,
      label,
      versions: `${release.stable_version} → ${release.candidate_version}`,
      steps: release.steps.map(stepText).join(', '),
    },
    attributes: { prompt },
  });
}
