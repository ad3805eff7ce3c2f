import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../domain/releases/release-states.ts';
import { failRelease } from '../services/releases/release-steps.ts';
import { type StoredRelease, startReleaseWorkflow, tellRelease } from '../services/releases/release-workflow.ts';
import { releaseWorkflowId } from '../temporal/names.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { compareWithWorkflow } from './compare-with-workflow.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

type ReleaseToCheck = StoredRelease & { signal_pending: boolean; ended: SqlBool };

/** Releases that have not ended, and those whose workflow may not know of a change. */
const take = (db: Builder) =>
  overdue(db, 'releases', sql<boolean>`(signal_pending or ${inStates(releaseStates, UNFINISHED_RELEASE)})`)
    .updateTable('releases as r')
    .from('overdue')
    .set({ check_at: NEXT_CHECK })
    .whereRef('r.id', '=', 'overdue.id')
    .returning(['r.id', 'r.workspace_id', 'r.prompt_name', 'r.label', 'r.stable_version', 'r.candidate_version'])
    .returning(['r.steps', 'r.signal_pending'])
    .returning(inStates(releaseStates, releaseStates.final).as('ended'))
    .$narrowType<{ steps: StoredRelease['steps'] }>();

function reconcileOne(db: Database, deps: WorkflowStarter & { log: Logger }, release: ReleaseToCheck): Promise<void> {
  const { id } = release;
  return compareWithWorkflow(deps, 'release', release, {
    workflowId: releaseWorkflowId(id),
    tell: () => tellRelease(deps, release),
    clearPending: () =>
      db.system.query((all) => all.updateTable('releases').set({ signal_pending: false }).where('id', '=', id)),
    start: () => startReleaseWorkflow(deps, release),
    // Rolls it back.
    end: () => failRelease(db, id),
  });
}

/**
 * Looks once at the releases that are overdue: starts a workflow that Temporal lost or never got, tells workflows of changes that they
 * have not read, and rolls back a release whose workflow was ended from outside.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileReleases(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile<ReleaseToCheck>(db.system.query, log, {
    table: 'releases',
    take,
    reconcile: (release) => reconcileOne(db, { ...starter, log }, release),
  });
}
