import { sql } from 'kysely';
import type { Logger } from 'pino';
import { claim } from '../db/claim.ts';
import type { Database, SystemDatabase } from '../db/database.ts';
import { milliseconds, now } from '../db/sql.ts';
import { prepared } from '../db/statement.ts';
import { CHECK_EVERY_MS } from '../domain/monitors/monitor.ts';
import { checkDueMonitors } from '../services/monitors/look-at-monitors.ts';
import { sumUpRuns } from '../services/monitors/sum-up-runs.ts';

/** The number of workspaces that one process handles at a time, so that one with many monitors or runs uses only one slot. */
const AT_ONCE = 4;
/** Work of a workspace left after this time waits until the other due workspaces have been handled. */
const MAX_WORKSPACE_MS = 45_000;
/** The time until the next check of a workspace without enabled monitors; enabling one sets it. */
const IDLE_MS = 24 * 60 * 60_000;
/** Due immediately: times are stored rounded to a millisecond, which must not be in the future. */
const DUE_MS = -1;

/** Takes a due workspace until it is due again. Only one of several processes gets it. */
const TAKE_DUE = prepared()((db) =>
  db
    .with('due', (cte) =>
      cte
        .selectFrom('monitored_workspaces')
        .select('workspace_id')
        .where('check_at', '<=', now)
        .where((eb) =>
          eb('workspace_id', 'in', eb.selectFrom('workspaces').select('id').where('deleted_at', 'is', null)),
        )
        .orderBy('check_at')
        .$call(claim(sql.lit(1))),
    )
    .updateTable('monitored_workspaces as m')
    .from('due')
    .set({ check_at: sql<Date>`now() + ${milliseconds(CHECK_EVERY_MS)}` })
    .whereRef('m.workspace_id', '=', 'due.workspace_id')
    .returning(['m.workspace_id as workspaceId', 'm.summed_until as summedUntil'])
    .returning(now.as('until')),
);
const takeDue = async ({ query }: SystemDatabase) => (await query(TAKE_DUE, {}))[0];

type Claimed = NonNullable<Awaited<ReturnType<typeof takeDue>>>;

async function checkWorkspace(db: Database, claimed: Claimed, isOver: () => boolean): Promise<void> {
  const { isDone, claimedUntil } = await sumUpRuns(db.system, claimed, isOver);
  if (isDone && (await checkDueMonitors(db, claimed, isOver))) return;
  if (claimedUntil === undefined) return;
  await db.system.query((all) =>
    all
      .updateTable('monitored_workspaces')
      .set({ check_at: sql<Date>`now() + ${milliseconds(isDone ? IDLE_MS : DUE_MS)}` })
      .where('workspace_id', '=', claimed.workspaceId)
      // Enabling a monitor in the meantime has set another time.
      .where('check_at', '=', claimedUntil),
  );
}

/**
 * Checks the monitors of every due workspace: sums up its runs, then measures. A workspace that fails is logged and skipped until
 * it is due again. Safe to run in several processes at once, and to be stopped at any time.
 * @param maxWorkspaceMs the maximum time for a workspace, which then continues after other due ones
 * @throws Error if the database is down
 */
export async function checkMonitors(
  db: Database,
  log: Logger,
  stopping?: AbortSignal,
  maxWorkspaceMs = MAX_WORKSPACE_MS,
): Promise<void> {
  async function work(): Promise<void> {
    while (stopping?.aborted !== true) {
      const claimed = await takeDue(db.system);
      if (claimed === undefined) return;
      try {
        const over = Date.now() + maxWorkspaceMs;
        await checkWorkspace(db, claimed, () => stopping?.aborted === true || Date.now() > over);
      } catch (error) {
        log.warn({ err: error, workspace_id: claimed.workspaceId }, 'cannot check the monitors of a workspace');
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
