import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { anyOf, milliseconds, now } from '../db/sql.ts';
import type { Builder, BuiltStatement } from '../db/statement.ts';
import { isTemporalAway } from '../temporal/workflows.ts';

/** Rows taken by one statement. */
const BATCH_SIZE = 100;
/** Rows that one process reconciles concurrently. */
const CONCURRENCY = 20;
/** Rows that are left are for the next run: a process that stops waits for the run to end. */
const MAX_RUN_MS = 10_000;
/** The next check of a row for which Temporal or the database was unavailable. */
const AFTER_OUTAGE_MS = 30_000;

/** Tables whose rows say in `check_at` when they are overdue. */
export type ReconciledTable =
  | 'executions'
  | 'evaluations'
  | 'provider_batches'
  | 'releases'
  | 'schedules'
  | 'deliveries'
  | 'notifications';

/** How the overdue rows of a table are reconciled. */
export interface Reconciliation<Row extends { id: string }> {
  table: ReconciledTable;
  /** Takes overdue rows and sets their `check_at`: begins with {@link overdue}. */
  take: (db: Builder) => BuiltStatement<Row>;
  /** Reconciles one row with Temporal or the mail server. Idempotent. */
  reconcile: (row: Row) => Promise<void>;
}

/** The next check of a row: after as long as it is old, 30 seconds to 10 minutes, so that the checks of an unchanged row get rare. */
export const NEXT_CHECK = sql<Date>`now() + least(greatest(now() - created_at, interval '30 seconds'), interval '10 minutes')`;

/**
 * Begins a statement with `overdue (id)`: rows that are overdue, locked by this process. The statement is to set their `check_at`,
 * as to {@link NEXT_CHECK}.
 *
 * The table needs `check_at timestamptz not null`, whose default says when a new row is overdue, and a partial index on
 * (check_at) with the same condition.
 * @param due which rows are to be reconciled when they are overdue
 */
export const overdue = (db: Builder, table: ReconciledTable, due: RawBuilder<SqlBool>) =>
  db.with('overdue', (cte) =>
    cte
      .selectFrom(table)
      .select('id')
      .where(due)
      .where('check_at', '<', now)
      .orderBy('check_at')
      .limit(BATCH_SIZE)
      .forUpdate()
      .skipLocked(),
  );

/**
 * Reconciles all rows that are overdue, a bounded number concurrently. A row that fails is logged and left until its next check: it
 * holds up no other.
 * @throws Error where Temporal or the database is away; what was not reconciled comes first in the next run
 */
export async function reconcile<Row extends { id: string }>(
  query: Query,
  log: Logger,
  { table, take, reconcile: reconcileRow }: Reconciliation<Row>,
): Promise<void> {
  const until = Date.now() + MAX_RUN_MS;
  const outages: { id: string; error: unknown }[] = [];

  async function work(rows: Row[]): Promise<void> {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
      try {
        await reconcileRow(row);
      } catch (error) {
        if (isTemporalAway(error) || isDatabaseUnavailable(error)) outages.push({ id: row.id, error });
        else log.error({ err: error, table, id: row.id }, 'cannot reconcile a row; it is set aside');
      }
      if (outages.length > 0 || Date.now() > until) return;
    }
  }

  for (;;) {
    const rows: Row[] = await query(take);
    const isLast = rows.length < BATCH_SIZE;
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
