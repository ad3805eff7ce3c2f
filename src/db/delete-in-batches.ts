import { setTimeout as delay } from 'node:timers/promises';
import { type Expression, type ExpressionBuilder, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { claim } from './claim.ts';
import type { Query } from './database.ts';
import type { Tables } from './tables.ts';

/** The maximum number of rows that a transaction deletes. */
export const BATCH_ROWS = 500;
/** The maximum size of the texts that a transaction deletes, in bytes: TOAST stores large ones as separate rows. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** The pause between two transactions, so that deletion leaves most of the disk to others. */
const PAUSE_MS = 20;

/** Waits a moment, unless the process stops. */
export async function pause(signal: AbortSignal): Promise<void> {
  await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
}

/**
 * The first rows whose texts fit into a batch, and at least one, as an array of `key`.
 * @param rows select `key` and `bytes`
 * @param order of the rows, if it matters: `order by …`
 */
export const withinBatch = (key: string, rows: Expression<unknown>, order: RawBuilder<unknown> = sql``) =>
  sql`array(
    select ${sql.ref(key)} from (
      select ${sql.ref(key)}, sum(bytes) over (${order} rows unbounded preceding) - bytes as bytes_before from ${rows} as found
    ) as sized where bytes_before < ${BATCH_BYTES}
  )`;

type DeletableTable = Exclude<keyof Tables, 'evaluation_results' | 'evaluation_judgements' | 'delivery_attempts'>;

/** Rows to delete. */
export interface RowsToDelete {
  table: DeletableTable;
  where: Expression<SqlBool>;
  /** The size of a row's texts in bytes. Default: too small to count. */
  bytes?: Expression<number> | undefined;
  /** Whether an index finds these rows in the order of ids. Default: no; each batch then starts at the first remaining row. */
  byId?: boolean | undefined;
}

/** Defines rows to delete: `toDelete('executions', (eb) => ({ where: eb('id', '<', id), byId: true }))`. */
export function toDelete<Table extends DeletableTable>(
  table: Table,
  rows: (eb: ExpressionBuilder<Tables, Table>) => Omit<RowsToDelete, 'table'>,
): RowsToDelete {
  return { table, ...rows(expressionBuilder<Tables, Table>()) };
}

/** All rows of the workspace that the statement is bound to. */
export const everyRow = { where: sql<SqlBool>`true` };

/** The smallest possible id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes rows in small steps: each is a short transaction that waits for no lock and leaves locked rows to the next time.
 * @param signal stops after the current step
 * @returns the number of deleted rows
 */
export async function deleteInBatches(
  query: Query,
  { table, where, bytes = sql.lit(0), byId = false }: RowsToDelete,
  signal: AbortSignal,
): Promise<number> {
  const id = byId ? sql<string | null>`id` : sql<string | null>`null`;
  let total = 0;
  let last = FIRST_ID;
  while (!signal.aborted) {
    const deleted = await query((db) => {
      const rows = db
        .selectFrom(table)
        .select([sql`ctid`.as('row'), sql`${bytes}::bigint`.as('bytes')])
        .where(where)
        .$if(byId, (found) => found.where(sql<SqlBool>`id > ${last}::uuid`).orderBy(sql`id`))
        .$call(claim(BATCH_ROWS));
      return db
        .deleteFrom(table)
        .where(sql<SqlBool>`ctid = any(${withinBatch('row', rows)})`)
        .returning(id.as('id'));
    });
    if (deleted.length === 0) break;
    total += deleted.length;
    for (const row of deleted) if (row.id !== null && row.id > last) last = row.id;
    await pause(signal);
  }
  return total;
}
