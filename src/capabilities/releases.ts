import { sql } from 'kysely';
import { releaseRoutes } from '../api/releases/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../domain/releases/release-states.ts';
import { reconcileReleases } from '../jobs/reconcile-releases.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { RELEASE_TOOLS } from '../mcp/tools/release-tools.ts';
import { controlRelease } from '../services/releases/control-release.ts';
import { sumUpReleases, WHOLE_STAGE } from '../services/releases/sum-up-releases.ts';
import { type Capability, reconciling } from './capability.ts';

/** Short, because people watch the numbers of releases. */
const SUM_UP_RELEASES_EVERY_MS = 5_000;
/** How long the numbers of releases are kept by minute. Totals per release are kept indefinitely. */
const MINUTES_RETENTION_MS = 90 * 24 * 60 * 60_000;

const mover = { scopes: ['admin'] } as const;

export const releases: Capability = {
  name: 'releases',
  routes: releaseRoutes,
  tools: RELEASE_TOOLS,
  jobs: (parts) => [
    reconciling(parts, 'releases', reconcileReleases),
    {
      name: 'sum up releases',
      everyMs: SUM_UP_RELEASES_EVERY_MS,
      run: () => sumUpReleases(parts.db.system.query),
    },
  ],
  end: (deps, workspace, signal) =>
    endEach(workspace, 'releases', inStates(releaseStates, UNFINISHED_RELEASE), signal, (id) =>
      controlRelease(deps, workspace, id, 'rollback', { mover, comment: null }),
    ),
  rows: [
    toDelete('release_entries', () => everyRow),
    toDelete('release_score_entries', () => everyRow),
    toDelete('release_sums', () => everyRow),
    toDelete('releases', () => ({
      where: inStates(releaseStates, releaseStates.final),
      bytes: sql.ref<number>('bytes'),
      byId: true,
    })),
  ],
  expired: () => [
    toDelete('release_sums', (eb) => ({
      where: eb.and([eb('starts_at', '>', WHOLE_STAGE), eb('starts_at', '<', ago(MINUTES_RETENTION_MS))]),
    })),
  ],
};
