import { sql } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { ago } from '../../db/sql.ts';
import { look } from '../../domain/monitors/look.ts';
import { CHECK_EVERY_MS, checkText, type MonitorProgress } from '../../domain/monitors/monitor.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { saveProgress } from './change-state.ts';
import { type MonitorRow, selectMonitors } from './monitors.ts';
import { measureChecks } from './numbers.ts';

/** Those that were not looked at just now by another process, the longest ago first. */
const listDue = ({ query }: WorkspaceDatabase): Promise<MonitorRow[]> =>
  query((db) =>
    selectMonitors(db)
      .where('enabled', '=', true)
      .where((eb) => eb.or([eb('last_checked_at', 'is', null), eb('last_checked_at', '<', ago(CHECK_EVERY_MS / 2))]))
      .orderBy(sql`last_checked_at nulls first`),
  );

/** Why the state changes: the checks that begin to alert, or that have recovered. */
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
 * Looks at the monitors of a workspace, one after the other. A look counts once, however many processes look: what one has written since makes the
 * others' void.
 * @param until as far as its runs are summed up
 * @param isOver whether the rest is left to the next time; one is always looked at
 * @returns whether there is any monitor that is enabled
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
