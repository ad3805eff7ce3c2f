import { sql } from 'kysely';
import { inStates } from '../db/state-change.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../domain/releases/release-states.ts';
import { failRelease } from '../services/releases/release-steps.ts';
import { type StoredRelease, startReleaseWorkflow } from '../services/releases/release-workflow.ts';
import { releaseWorkflowId } from '../temporal/names.ts';
import { tellChanged } from '../temporal/workflows.ts';
import { compareWithWorkflow, type ReconcileDeps, reconcile } from './reconcile.ts';

export const reconcileReleases = (deps: ReconcileDeps): Promise<void> =>
  reconcile(deps, {
    table: 'releases',
    // Unfinished releases, and those whose workflow may not know of a change.
    due: sql<boolean>`(signal_pending or ${inStates(releaseStates, UNFINISHED_RELEASE)})`,
    read: (db) =>
      db
        .selectFrom('releases')
        .innerJoin('taken', 'taken.id', 'releases.id')
        .select(['releases.id', 'workspace_id', 'prompt_name', 'label', 'stable_version', 'candidate_version', 'steps'])
        .select(['signal_pending as untold', inStates(releaseStates, releaseStates.final).as('ended')])
        .$narrowType<{ steps: StoredRelease['steps'] }>(),
    reconcile(release) {
      const { id } = release;
      const workflowId = releaseWorkflowId(id);
      return compareWithWorkflow(deps, 'release', release, {
        workflowId,
        tell: () => tellChanged(deps.starter, workflowId),
        clearPending: () =>
          deps.db.system.query((db) => db.updateTable('releases').set({ signal_pending: false }).where('id', '=', id)),
        start: () => startReleaseWorkflow(deps.starter, release),
        // Rolls it back.
        end: () => failRelease(deps.db, id),
      });
    },
  });
