import { monitorRoutes } from '../api/monitors/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { KEPT_LONGER_MS, MAX_WINDOW_MS } from '../domain/monitors/monitor.ts';
import { checkMonitors } from '../jobs/check-monitors.ts';
import { olderThan } from '../jobs/retention.ts';
import type { Capability } from './capability.ts';

/** Each monitor is due once a minute; this is how often due ones are searched. */
const CHECK_MONITORS_EVERY_MS = 5_000;

export const monitors: Capability = {
  name: 'monitors',
  routes: monitorRoutes,
  jobs: ({ db, log }) => [
    {
      name: 'check monitors',
      everyMs: CHECK_MONITORS_EVERY_MS,
      run: (stopping) => checkMonitors(db, log, stopping),
    },
  ],
  rows: [
    toDelete('monitors', () => ({ ...everyRow, byId: true })),
    toDelete('monitored_workspaces', () => everyRow),
    toDelete('run_minutes', () => everyRow),
  ],
  expired: ({ events }) => [
    toDelete('run_minutes', (eb) => ({ where: eb('starts_at', '<', ago(MAX_WINDOW_MS + KEPT_LONGER_MS)) })),
    olderThan('monitor_changes', events),
  ],
};
