import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { milliseconds, now } from '../db/sql.ts';
import type { Builder, BuiltStatement } from '../db/statement.ts';
import { isTemporalAway } from '../temporal/workflows.ts';

/** Rows taken by one statement. */
const BATCH_SIZE = 100;
/** Rows of one process that are looked at side by side. */
const CONCURRENCY = 20;
/** What is left is for the next turn: a process that stops waits for the turn to end. */
const MAX_TURN_MS = 10_000;
/** When to look again at a row for which Temporal or the database was away. */
const AFTER_OUTAGE_MS = 30_000;

/** Tables whose rows say in `check_at` when they are overdue. */
export type ReconciledTable = 'executions' | 'evaluations' | 'schedules' | 'deliveries' | 'notifications';

/** What is looked at when it is overdue, and what is done about it. */
export interface Reconciliation<Row extends { id: string }> {
  table: ReconciledTable;
  /** Takes overdue rows and sets their `check_at`: begins with {@link overdue}. */
  take: (db: Builder) => BuiltStatement<Row>;
  /** Brings one row back on its way. Safe to repeat. */
  reconcile: (row: Row) => Promise<void>;
}

/** When to look again at a row: after as long as it is old, 30 seconds to 10 minutes. */
export const NEXT_CHECK = sql<Date>`now() + least(greatest(now() - created_at, interval '30 seconds'), interval '10 minutes')`;

/**
 * Begins a statement with `overdue (id)`: rows that are overdue, locked for this process. The statement is to set their `check_at`,
 * as to {@link NEXT_CHECK}, so that a row that is looked at in vain takes less and less time.
 *
 * The table needs `check_at timestamptz not null`, whose default says when a new row is overdue, and a partial index on
 * (check_at) with the same condition.
 * @param due which rows there is something to do for
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
 * Looks at everything that is overdue, a bounded number side by side. A row that fails is logged and set aside until its next
 * look: it keeps no other from its own.
 * @throws Error where Temporal or the database is away; what was not looked at comes first in the next turn
 */
export async function reconcile<Row extends { id: string }>(
  query: Query,
  log: Logger,
  { table, take, reconcile: reconcileRow }: Reconciliation<Row>,
): Promise<void> {
  const until = Date.now() + MAX_TURN_MS;
  const outages: { id: string; error: unknown }[] = [];

  async function look(rows: Row[]): Promise<void> {
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
    await Promise.all(Array.from({ length: CONCURRENCY }, () => look(rows)));
    const putOff = (ids: string[], ms: number) =>
      query((db) =>
        db
          .updateTable(table)
          .set({ check_at: sql<Date>`now() + ${milliseconds(ms)}` })
          .where('id', '=', sql<string>`any(${ids}::uuid[])`),
      );
    if (rows.length > 0)
      await putOff(
        rows.map(({ id }) => id),
        0,
      );
    if (outages[0] !== undefined) {
      await putOff(
        outages.map(({ id }) => id),
        AFTER_OUTAGE_MS,
      );
      throw outages[0].error;
    }
    if (isLast || Date.now() > until) return;
  }
}
