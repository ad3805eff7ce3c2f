import { setTimeout as delay } from 'node:timers/promises';
import { type Expression, type ExpressionBuilder, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { claim } from './claim.ts';
import type { Query } from './database.ts';
import type { Tables } from './tables.ts';

/** Rows that a transaction deletes at most. */
export const BATCH_ROWS = 500;
/** Texts that a transaction deletes at most, in bytes: TOAST stores large ones as rows of their own. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** Between two transactions, so that deleting leaves most of the disk to others. */
const PAUSE_MS = 20;

/** Waits a moment, unless the process stops. */
export async function pause(signal: AbortSignal): Promise<void> {
  await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
}

/**
 * The first rows whose texts fit into a batch, and at least one, as an array of `key`.
 * @param rows select `key` and `bytes`
 * @param order of the rows, where it matters: `order by …`
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
  /** How many bytes of text a row has. Default: too few to count. */
  bytes?: Expression<number> | undefined;
  /** Whether an index leads through these rows by id. Default: no; each batch then starts at the first row that is left. */
  byId?: boolean | undefined;
}

/** Names rows to delete: `toDelete('executions', (eb) => ({ where: eb('id', '<', id), byId: true }))`. */
export function toDelete<Table extends DeletableTable>(
  table: Table,
  rows: (eb: ExpressionBuilder<Tables, Table>) => Omit<RowsToDelete, 'table'>,
): RowsToDelete {
  return { table, ...rows(expressionBuilder<Tables, Table>()) };
}

/** Of the workspace that the statement is bound to. */
export const everyRow = { where: sql<SqlBool>`true` };

/** No id is smaller. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes rows in small steps: each is a short transaction that waits for no lock and leaves rows that are in use to the next
 * time.
 * @param signal ends it after the current step
 * @returns how many were deleted
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
