import { type QueryCreator, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import { anyOfNext, type CheckedTable, OVERDUE_AT_ONCE, overdue } from '../db/claim.ts';
import type { Database } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { anyOf, milliseconds } from '../db/sql.ts';
import type { Builder, BuiltStatement } from '../db/statement.ts';
import type { Tables } from '../db/tables.ts';
import { isTemporalUnavailable, type WorkflowStarter, workflowState } from '../temporal/workflows.ts';

/** Rows that one process reconciles concurrently. */
const CONCURRENCY = 20;
/** The remaining rows are left to the next run, because a stopping process waits for the run to end. */
const MAX_RUN_MS = 10_000;
/** The time until the next check of a row for which Temporal or the database was unavailable. */
const AFTER_OUTAGE_MS = 30_000;

/** The dependencies for comparing rows with their workflows. */
export interface ReconcileDeps {
  db: Database;
  starter: WorkflowStarter;
  log: Logger;
}

/** A statement that starts with `taken`. */
type WithTaken = QueryCreator<Tables & { taken: { id: string } }>;

/** How the overdue rows of a table are reconciled. */
export interface Reconciliation<Row extends { id: string }> {
  table: CheckedTable;
  /** Which rows to check when they are overdue. */
  due: RawBuilder<SqlBool>;
  /** When each is overdue again. Default: {@link NEXT_CHECK}. */
  nextCheck?: RawBuilder<Date>;
  /** Continues the statement from `taken`, the ids of overdue rows. */
  read: (db: WithTaken) => BuiltStatement<Row>;
  /** Reconciles one row with Temporal or the mail server. Idempotent. */
  reconcile: (row: Row) => Promise<unknown>;
}

/**
 * The time of a row's next check: after a time equal to its age, between 30 seconds and 10 minutes, so that unchanged rows are
 * checked less and less often.
 */
export const NEXT_CHECK = sql<Date>`now() + least(greatest(now() - created_at, interval '30 seconds'), interval '10 minutes')`;

/** Takes overdue rows, which no other process then gets, and reads them. */
const take =
  <Row extends { id: string }>({ table, due, nextCheck = NEXT_CHECK, read }: Reconciliation<Row>) =>
  (db: Builder) =>
    read(
      overdue(db, table, due).with('taken', (cte) =>
        cte
          .updateTable(table)
          .set({ check_at: nextCheck })
          .where((eb) => eb('id', '=', anyOfNext(eb.selectFrom('overdue').select('overdue.id'))))
          .returning('id'),
      ),
    );

/**
 * Reconciles all overdue rows, a limited number concurrently. A row that fails is logged and left until its next check, without
 * delaying others.
 * @throws Error if Temporal or the database is down; unreconciled rows come first in the next run
 */
export async function reconcile<Row extends { id: string }>(
  { db, log }: Pick<ReconcileDeps, 'db' | 'log'>,
  reconciliation: Reconciliation<Row>,
): Promise<void> {
  const { query } = db.system;
  const { table, reconcile: reconcileRow } = reconciliation;
  const until = Date.now() + MAX_RUN_MS;
  const outages: { id: string; error: unknown }[] = [];

  async function work(rows: Row[]): Promise<void> {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
      try {
        await reconcileRow(row);
      } catch (error) {
        if (isTemporalUnavailable(error) || isDatabaseUnavailable(error)) outages.push({ id: row.id, error });
        else log.error({ err: error, table, id: row.id }, 'cannot reconcile a row; it is set aside');
      }
      if (outages.length > 0 || Date.now() > until) return;
    }
  }

  for (;;) {
    const rows = await query(take(reconciliation));
    const isLast = rows.length < OVERDUE_AT_ONCE;
    await Promise.all(Array.from({ length: CONCURRENCY }, () => work(rows)));
    const checkAgainIn = (ids: string[], ms: number) =>
      query((db) =>
        db
          .updateTable(table)
          .set({ check_at: sql<Date>`now() + ${milliseconds(ms)}` })
          .where('id', '=', anyOf(ids)),
      );
    if (rows.length > 0)
      await checkAgainIn(
        rows.map(({ id }) => id),
        0,
      );
    if (outages[0] !== undefined) {
      await checkAgainIn(
        outages.map(({ id }) => id),
        AFTER_OUTAGE_MS,
      );
      throw outages[0].error;
    }
    if (isLast || Date.now() > until) return;
  }
}

/** A row that has a workflow until it has ended. */
export interface RowWithWorkflow {
  id: string;
  /** Whether it has ended. Default: no. */
  ended?: SqlBool;
  /** Whether its workflow may not know of its last change. Default: no. */
  untold?: SqlBool;
  /** Whether it has not started, and no caller was notified of it. Default: no. */
  unaccepted?: SqlBool;
}

/** The actions for a row whose workflow is not in the expected state. Each is safe to repeat. */
export interface Remedies {
  workflowId: string;
  /** Signals the workflow that the row has changed. */
  tell?: () => Promise<unknown>;
  /** Called if its workflow has ended like the row, so that there is nothing left to signal. */
  clearPending?: () => Promise<unknown>;
  /** @returns whether it was withdrawn */
  withdraw?: () => Promise<boolean>;
  /** Starts a workflow that Temporal has lost or never got. @returns false if another process was faster */
  start: () => Promise<boolean>;
  /** Ends the row if its workflow was ended from outside. Default: starts its workflow again. */
  end?: () => Promise<unknown>;
}

/**
 * Compares a row with its workflow, and repairs what is missing.
 * @param what the kind of the row
 */
export async function compareWithWorkflow(
  { starter, log }: ReconcileDeps,
  what: 'execution' | 'evaluation' | 'batch' | 'release' | 'improvement' | 'delivery',
  { id, ended = false, untold = false, unaccepted = false }: RowWithWorkflow,
  { workflowId, tell, clearPending, withdraw, start, end }: Remedies,
): Promise<void> {
  const warn = (message: string) => log.warn({ [`${what}_id`]: id }, message);
  const state = await workflowState(starter.client, workflowId);
  if (state === 'running') {
    // Only if there is news: each signal stays in the workflow's history, and a run may wait for months.
    if (untold) await tell?.();
  } else if (ended) {
    await clearPending?.();
  } else if (unaccepted) {
    if (await withdraw?.()) warn('withdrew a run whose creation was never confirmed to its caller');
  } else if (state === 'missing' || end === undefined) {
    if (await start()) warn('started a run that had been left without its workflow');
  } else {
    await end();
    warn('ended a run whose workflow had been ended from outside');
  }
}
