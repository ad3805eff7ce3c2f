import { sql } from 'kysely';
import type { Logger } from 'pino';
import { claim } from '../db/claim.ts';
import type { Database, SystemDatabase } from '../db/database.ts';
import { milliseconds, now } from '../db/sql.ts';
import { CHECK_EVERY_MS } from '../domain/monitors/monitor.ts';
import { checkDueMonitors } from '../services/monitors/look-at-monitors.ts';
import { sumUpRuns } from '../services/monitors/sum-up-runs.ts';

/** Workspaces that one process deals with at a time: one with many monitors, or runs, has one of these places. */
const AT_ONCE = 4;
/** What is left of a workspace by then waits until the others that are due had their turn. */
const MAX_WORKSPACE_MS = 45_000;
/** The next look at a workspace without monitors that are enabled; enabling one sets it. */
const IDLE_MS = 24 * 60 * 60_000;
/** Due at once: times are stored rounded to a millisecond, which must not be one to come. */
const DUE_MS = -1;

/** Takes a workspace that is due, until it is due again. Of several processes one gets it. */
async function takeDue({ query }: SystemDatabase) {
  const [claimed] = await query((db) =>
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
          .$call(claim(1)),
      )
      .updateTable('monitored_workspaces as m')
      .from('due')
      .set({ check_at: sql<Date>`now() + ${milliseconds(CHECK_EVERY_MS)}` })
      .whereRef('m.workspace_id', '=', 'due.workspace_id')
      .returning(['m.workspace_id as workspaceId', 'm.summed_until as summedUntil'])
      .returning(now.as('until')),
  );
  return claimed;
}

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
      // A monitor that was enabled since has set another time.
      .where('check_at', '=', claimedUntil),
  );
}

/**
 * Looks at the monitors of every workspace that is due: sums up its runs, then measures. A workspace that fails is logged and left until it is due
 * again. Safe to run in several processes at once, and to be stopped at any time.
 * @param maxWorkspaceMs how long one turn of a workspace may last; it is looked at again after others that are due
 * @throws Error where the database is away
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
