import { sql } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { ago } from '../../db/sql.ts';
import { look } from '../../domain/monitors/look.ts';
import { CHECK_EVERY_MS, checkText, type MonitorProgress } from '../../domain/monitors/monitor.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { saveProgress } from './change-state.ts';
import { type MonitorRow, selectMonitors } from './monitors.ts';
import { measureChecks } from './numbers.ts';

/** Monitors that no other process has just checked, the least recently checked first. */
const listDue = ({ query }: WorkspaceDatabase): Promise<MonitorRow[]> =>
  query((db) =>
    selectMonitors(db)
      .where('enabled', '=', true)
      .where((eb) => eb.or([eb('last_checked_at', 'is', null), eb('last_checked_at', '<', ago(CHECK_EVERY_MS / 2))]))
      .orderBy(sql`last_checked_at nulls first`),
  );

/** Why the state changes: the checks that started to alert, or that have recovered. */
function reasonOf({ checks, progress, state, window }: MonitorRow, after: MonitorProgress): string {
  if (after.state === 'no_data') return 'no check has enough data';
  const told = checks.flatMap((check, index) => {
    const now = after.checks[index];
    const wasAlerting = progress[index]?.alerting ?? false;
    const isNews =
      now !== undefined && (after.state === 'alerting' ? now.alerting : state !== 'alerting' || wasAlerting);
    return isNews ? [checkText(check, now, spanMs(window))] : [];
  });
  return state === 'no_data' && after.state === 'ok' ? 'there is enough data' : told.join('; ');
}

async function lookAt(db: WorkspaceDatabase, row: MonitorRow, until: Date): Promise<void> {
  const before = { state: row.state, checks: row.progress, silent: row.silent };
  const after = look(row.checks, before, await measureChecks(db.query, row, until));
  const how = { reason: reasonOf(row, after), looked: true };
  if (after.state === row.state) await saveProgress(db.query, row, after, how);
  else await db.transaction((query) => saveProgress(query, row, after, how));
}

/**
 * Checks the monitors of a workspace, one after the other. Each check counts once, however many processes run it: a stored result
 * invalidates concurrent ones.
 * @param until the time up to which its runs are summed up
 * @param isOver whether to leave the rest for the next time; at least one monitor is always checked
 * @returns whether any monitor is enabled
 */
export async function checkDueMonitors(
  db: Database,
  { workspaceId, until }: { workspaceId: string; until: Date },
  isOver: () => boolean,
): Promise<boolean> {
  const own = db.workspace(workspaceId);
  for (const row of await listDue(own)) {
    await lookAt(own, row, until);
    if (isOver()) return true;
  }
  const [enabled] = await own.query((query) =>
    query.selectFrom('monitors').select('id').where('enabled', '=', true).limit(1),
  );
  return enabled !== undefined;
}
