import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { asJson } from '../../db/statement.ts';
import { newId } from '../../domain/ids.ts';
import type { CheckProgress, MonitorProgress } from '../../domain/monitors/monitor.ts';
import { type MonitorState, monitorStates } from '../../domain/monitors/monitor-states.ts';
import { writeEvent } from '../events/write-event.ts';
import type { MonitorRow } from './monitors.ts';

/** What each check of a monitor measured, as shown to callers and in events. */
export const presentValues = (checks: readonly { metric: string }[], progress: readonly CheckProgress[]) =>
  progress.map(({ value, count, alerting }, index) => ({
    metric: checks[index]?.metric ?? '',
    value,
    count,
    alerting,
  }));

const bad = (state: MonitorState) => state === 'alerting';

/**
 * Stores the progress of a monitor, unless another process has stored it since `row` was read; if its state has changed, also the
 * change, the event and the notification of an alert's start or end. Needs a transaction of the caller if the state may change.
 * @param reason of a change, in words
 * @returns whether it was stored
 */
export async function saveProgress(
  query: Query,
  row: MonitorRow,
  { state, checks, silent }: MonitorProgress,
  { reason, looked }: { reason: string; looked: boolean },
): Promise<boolean> {
  const change = state === row.state ? undefined : changeState(monitorStates, { to: state, from: [row.state] });
  const written = await query((db) =>
    db
      .updateTable('monitors')
      .set({
        ...change?.set,
        ...(change && { since: now }),
        progress: asJson(checks),
        silent,
        revision: row.revision + 1,
        last_checked_at: looked ? now : null,
      })
      .where('id', '=', row.id)
      .where('revision', '=', row.revision)
      .where(change?.where ?? sql<boolean>`true`)
      .returning('id'),
  );
  if (written.length === 0) return false;
  if (change !== undefined) await publishStateChange(query, row, { state, checks, silent }, reason);
  return true;
}

/** Records a change of state, and notifies of the start or end of an alert. Runs in the transaction of the change. */
export async function publishStateChange(
  query: Query,
  row: MonitorRow,
  { state, checks }: MonitorProgress,
  reason: string,
): Promise<void> {
  await query((db) =>
    db.insertInto('monitor_changes').values({
      id: newId(),
      monitor_id: row.id,
      previous_state: row.state,
      state,
      reason,
      progress: asJson(checks),
      created_at: now,
    }),
  );
  if (bad(row.state) === bad(state)) return;
  const type = bad(state) ? 'monitor.alerted' : 'monitor.recovered';
  await writeEvent(query, type, {
    monitor: row.name,
    prompt_name: row.prompt_name,
    label: row.label,
    state,
    reason,
    values: presentValues(row.checks, checks),
  });
  await query((db) =>
    db.insertInto('notifications').values({
      id: newId(),
      type,
      message: `The monitor ${row.name} ${bad(state) ? 'alerts' : 'has ended its alert'}: ${reason}.`,
      monitor: row.name,
      email_pending: row.notify.email,
      created_at: now,
    }),
  );
}
