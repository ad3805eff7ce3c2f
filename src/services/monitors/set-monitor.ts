import { isDeepStrictEqual } from 'node:util';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { type MonitorCheck, NEW_PROGRESS } from '../../domain/monitors/monitor.ts';
import { requireMeans } from '../scores/score-metrics.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { publishStateChange, saveProgress } from './change-state.ts';
import { MONITORS, type MonitorRow } from './monitors.ts';

export interface MonitorDefinition {
  promptName: string | null;
  label: string | null;
  /** A text such as `15m`. */
  window: string;
  checks: MonitorCheck[];
  notify: { email: boolean };
  enabled: boolean;
}

/** The parts that decide about its state. */
const watched = ({ prompt_name, label, window, checks }: MonitorRow) => ({ prompt_name, label, window, checks });

/** Makes a worker check the workspace soon. */
const watchWorkspace = (query: Query) =>
  query((db) =>
    db
      .insertInto('monitored_workspaces')
      .values({ check_at: now })
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ check_at: now })),
  );

/**
 * Creates a monitor, or replaces the definition of an existing one. A monitor that now watches something else restarts, which
 * ends an alert; so does disabling it.
 * @throws ApiError `invalid_request`, `quota_exceeded`
 */
export function setMonitor(
  db: WorkspaceDatabase,
  quotas: Quotas,
  name: string,
  definition: MonitorDefinition,
): Promise<MonitorRow> {
  const { promptName, label, window, checks, notify, enabled } = definition;
  const values = { prompt_name: promptName, label, window, checks, notify, enabled };
  return db.transaction(async (query) => {
    await requireMeans(
      query,
      checks.map(({ metric }, index) => ({ at: `checks.${index}`, metric })),
    );
    const row = await MONITORS.put(query, { name }, (before) => ({ values, ...(before && { details: { enabled } }) }), {
      replaced: (before, after) => beginAnew(query, before, after),
      created: () => quotas.require(query, 'monitors'),
    });
    if (enabled) await watchWorkspace(query);
    return row;
  });
}

/** Restarts a monitor that now watches something else or is disabled. */
async function beginAnew(query: Query, before: MonitorRow, after: MonitorRow): Promise<void> {
  const isOther = !isDeepStrictEqual(watched(before), watched(after));
  if (!isOther && (!before.enabled || after.enabled)) return;
  const reason = isOther ? 'the monitor was changed' : 'the monitor was disabled';
  // The notification names the checks that caused the alert.
  const row = { ...after, checks: before.checks, state: before.state };
  await saveProgress(query, row, NEW_PROGRESS, { reason, looked: false });
}

/** Deletes a monitor and its history; ends an alert. @throws ApiError `not_found` */
export const deleteMonitor = (db: WorkspaceDatabase, name: string): Promise<MonitorRow> =>
  db.transaction((query) =>
    MONITORS.delete(
      query,
      { name },
      {
        async first(row) {
          if (row.state === 'alerting') await publishStateChange(query, row, NEW_PROGRESS, 'the monitor was deleted');
        },
      },
    ),
  );
