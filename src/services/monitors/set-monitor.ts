import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { newId } from '../../domain/ids.ts';
import { type MonitorCheck, NEW_PROGRESS } from '../../domain/monitors/monitor.ts';
import { monitorStates } from '../../domain/monitors/monitor-states.ts';
import { hasValues } from '../audit/has-values.ts';
import { recordChange } from '../audit/record-change.ts';
import { requireMeans } from '../scores/score-metrics.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { saveProgress, tellChange } from './change-state.ts';
import { getMonitor, lockMonitor, MONITOR_COLUMNS, type MonitorRow } from './monitors.ts';

export interface MonitorDefinition {
  promptName: string | null;
  label: string | null;
  /** A text such as `15m`. */
  window: string;
  checks: MonitorCheck[];
  notify: { email: boolean };
  enabled: boolean;
}

const columnsOf = ({ promptName, label, window, checks, notify, enabled }: MonitorDefinition) => ({
  prompt_name: promptName,
  label,
  window,
  checks: asJson(checks),
  notify: asJson(notify),
  enabled,
  updated_at: now,
});

/** What decides about its state. */
const watched = ({ prompt_name, label, window, checks }: MonitorRow) => ({ prompt_name, label, window, checks });

/** Has a worker look at the workspace soon. */
const watchWorkspace = (query: Query) =>
  query((db) =>
    db
      .insertInto('monitored_workspaces')
      .values({ check_at: now })
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ check_at: now })),
  );

/**
 * Creates a monitor, or gives an existing one this definition. One that watches something else than before begins anew, which ends an alert; so does
 * disabling it.
 * @throws ApiError `invalid_request`, `quota_exceeded`
 */
export function setMonitor(
  db: WorkspaceDatabase,
  quotas: Quotas,
  name: string,
  definition: MonitorDefinition,
): Promise<MonitorRow> {
  return db.transaction(async (query) => {
    await requireMeans(
      query,
      definition.checks.map(({ metric }, index) => ({ at: `checks.${index}`, metric })),
    );
    const created = await query((own) =>
      own
        .insertInto('monitors')
        .values({
          id: newId(),
          name,
          ...columnsOf(definition),
          state: monitorStates.initial,
          since: now,
          created_at: now,
        })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doNothing())
        .returning('id'),
    );
    if (created.length === 0) await redefine(query, name, definition);
    else await recordChange(query, 'monitor.created', name);
    if (definition.enabled) await watchWorkspace(query);
    if (created.length > 0) await quotas.require(query, 'monitors');
    return getMonitor(query, name);
  });
}

async function redefine(query: Query, name: string, definition: MonitorDefinition): Promise<void> {
  const before = await lockMonitor(query, name);
  const { updated_at: _, ...values } = columnsOf(definition);
  if (hasValues(before, { ...values, checks: definition.checks, notify: definition.notify })) return;
  const [stored] = await query((own) =>
    own
      .updateTable('monitors')
      .set(columnsOf(definition))
      // What a look under way has read holds no more.
      .set({ revision: sql<number>`revision + 1` })
      .where('id', '=', before.id)
      .returning(MONITOR_COLUMNS),
  );
  const after = stored as MonitorRow;
  const isOther = !isDeepStrictEqual(watched(before), watched(after));
  if (isOther || (before.enabled && !after.enabled)) {
    const reason = isOther ? 'the monitor was changed' : 'the monitor was disabled';
    // Told with the checks that it alerted by.
    const row = { ...after, checks: before.checks, state: before.state };
    await saveProgress(query, row, NEW_PROGRESS, { reason, looked: false });
  }
  await recordChange(query, 'monitor.updated', name, { enabled: after.enabled });
}

/** Deletes a monitor and its history; an alert ends. @throws ApiError `not_found` */
export function deleteMonitor(db: WorkspaceDatabase, name: string): Promise<MonitorRow> {
  return db.transaction(async (query) => {
    const row = await lockMonitor(query, name);
    if (row.state === 'alerting') await tellChange(query, row, NEW_PROGRESS, 'the monitor was deleted');
    await query((own) => own.deleteFrom('monitors').where('id', '=', row.id));
    await recordChange(query, 'monitor.deleted', name);
    return row;
  });
}
