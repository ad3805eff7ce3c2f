import { type SqlBool, sql } from 'kysely';
import { scheduleRoutes } from '../api/schedules/routes.ts';
import { toDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { reconcileSchedules } from '../jobs/reconcile-schedules.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { deleteSchedule } from '../services/schedules/control-schedule.ts';
import { type Capability, reconciling } from './capability.ts';

/** How long the step that starts the evaluation of a schedule can be retried. */
const OCCURRENCE_RETENTION_MS = 7 * 24 * 60 * 60_000;

export const schedules: Capability = {
  name: 'schedules',
  routes: scheduleRoutes,
  jobs: (parts) => [reconciling(parts, 'schedules', reconcileSchedules)],
  end: (deps, workspace, signal) =>
    endEach(workspace, 'schedules', sql<SqlBool>`true`, signal, (id) => deleteSchedule(deps, workspace, id)),
  expired: () => [
    toDelete('schedule_occurrences', (eb) => ({ where: eb('created_at', '<', ago(OCCURRENCE_RETENTION_MS)) })),
  ],
};
