import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import { publicId } from '../../domain/ids.ts';
import { stepText } from '../../domain/releases/release.ts';
import { releaseWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { signalWorkflow, startWorkflowOnce, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { releasePrompt } from '../../workflows/release-prompt.ts';
import type { ReleaseRow } from './releases.ts';

/** What a workflow is started for. */
export type StoredRelease = Pick<
  ReleaseRow,
  'id' | 'workspace_id' | 'prompt_name' | 'label' | 'stable_version' | 'candidate_version' | 'steps'
>;

export type ReleaseDeps = WorkflowStarter & { log: Logger };

/** `support/greeting @production: version 3 → 7` */
const summaryOf = ({ prompt_name, label, stable_version, candidate_version }: StoredRelease) =>
  `${prompt_name} @${label}: version ${stable_version} → ${candidate_version}`;

/**
 * Starts the workflow of a stored release. Doing it again changes nothing.
 * @returns false where it was started before
 */
export function startReleaseWorkflow(starter: WorkflowStarter, release: StoredRelease): Promise<boolean> {
  const workspace = publicId('workspace', release.workspace_id);
  const id = publicId('release', release.id);
  const what = summaryOf(release);
  return startWorkflowOnce<typeof releasePrompt>({ ...starter, eager: false }, 'releasePrompt', {
    priority: { fairnessKey: workspace },
    workflowId: releaseWorkflowId(release.id),
    taskQueue: starter.taskQueues.evaluations,
    args: [{ releaseId: release.id, what }],
    staticSummary: what,
    // A run that continues as new keeps the memo, but no summary.
    memo: {
      release: id,
      workspace,
      prompt: release.prompt_name,
      label: release.label,
      versions: `${release.stable_version} → ${release.candidate_version}`,
      steps: release.steps.map(stepText).join(', '),
    },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: release.prompt_name },
    ]),
  });
}

/** Starts the workflow of a release that was just stored. Where that fails it is started later: `reconcileReleases`. */
export async function startStored(deps: ReleaseDeps, release: StoredRelease): Promise<void> {
  try {
    await startReleaseWorkflow(deps, release);
  } catch (error) {
    deps.log.warn(
      { err: error, release_id: release.id },
      'cannot start the workflow of a release; it is started later',
    );
  }
}

/** Tells the workflow that the row has changed. Where that fails it learns of it later: the row is still `signal_pending`. */
export async function tellRelease(deps: ReleaseDeps, { id }: Pick<ReleaseRow, 'id'>): Promise<void> {
  try {
    await signalWorkflow(deps.client, releaseWorkflowId(id), 'controlChanged');
  } catch (error) {
    deps.log.warn({ err: error, release_id: id }, 'cannot signal the workflow of a release; trying again later');
  }
}
