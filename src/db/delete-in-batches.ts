import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from './database.ts';

/** Rows that a transaction deletes at most. */
export const BATCH_ROWS = 500;
/** Texts that a transaction deletes at most, in bytes: they are rows, too, in a table of their own. */
export const BATCH_BYTES = 16 * 1024 * 1024;
/** Between two transactions, so that deleting leaves most of the disk to others. */
const PAUSE_MS = 20;

/** Waits a moment, unless the process stops. */
export async function pause(signal: AbortSignal): Promise<void> {
  await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
}

export interface Doomed {
  table: string;
  /** Which rows, with `values` as `$1` and on. */
  where: string;
  values: unknown[];
  /** How many bytes of text a row has. Default: too few to count. */
  bytes?: string;
  /** Whether an index leads through these rows by id. Default: no; each batch then starts at the first row that is left. */
  byId?: boolean;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes rows in small steps: each is a short transaction that waits for no lock and leaves rows that are in use to the next
 * time.
 * @param signal ends it after the current step
 * @returns how many were deleted
 */
export async function deleteInBatches(
  query: Query,
  { table, where, values, bytes = '0', byId = false }: Doomed,
  signal: AbortSignal,
): Promise<number> {
  const after = `$${values.length + 1}::uuid`;
  const order = byId ? `and id > ${after} order by id` : `and ${after} is not null`;
  const statement = {
    text: `delete from ${table} where ctid = any(array(
             select row from (
               select row, sum(bytes) over (rows unbounded preceding) - bytes as bytes_before
               from (select ctid as row, (${bytes})::bigint as bytes from ${table} where ${where} ${order}
                     limit ${BATCH_ROWS} for update skip locked) as locked
             ) as sized where bytes_before < ${BATCH_BYTES}
           )) returning ${byId ? 'id' : 'null as id'}`,
  };
  let total = 0;
  let last = FIRST_ID;
  while (!signal.aborted) {
    const deleted = await query<{ id: string | null }>(statement, [...values, last]);
    if (deleted.length === 0) break;
    total += deleted.length;
    for (const { id } of deleted) if (id !== null && id > last) last = id;
    await pause(signal);
  }
  return total;
}
