import type { SystemDatabase } from '../db/database.ts';
import { BATCH_BYTES, BATCH_ROWS, pause } from '../db/delete-in-batches.ts';
import { TRASH_WORKSPACE } from '../db/trash.ts';

/** What has many rows that go first, by their `seq`. */
interface Owner {
  table: string;
  /** Which of them are to go; `o` is the table. */
  where: string;
  /** Where the rows are, by which column they are found, and what else is deleted with each. */
  rows: { table: string; owner: string; also: string[] };
}

const EVALUATIONS: Owner = {
  table: 'evaluations',
  where: `o.workspace_id = '${TRASH_WORKSPACE}'`,
  rows: { table: 'evaluation_results', owner: 'evaluation_id', also: ['evaluation_judgements'] },
};
/** Sets of examples that belong to no dataset (any more) and to no evaluation. */
const EXAMPLES: Owner = {
  table: 'dataset_versions',
  where: 'o.dataset_id is null and not exists (select from evaluations e where e.examples_id = o.id)',
  rows: { table: 'dataset_examples', owner: 'dataset_version_id', also: [] },
};

async function sweepOwners(db: SystemDatabase, { table, where, rows }: Owner, signal: AbortSignal): Promise<void> {
  const find = {
    text: `select o.id from ${table} o where ${where} and o.id >= $1 order by o.id limit 1 for update of o skip locked`,
  };
  const deleteRows = {
    text: `delete from ${rows.table} where ${rows.owner} = $1 and seq = any(array(
             select seq from (
               select seq, sum(bytes) over (order by seq rows unbounded preceding) - bytes as bytes_before
               from (select seq, bytes from ${rows.table} where ${rows.owner} = $1 and seq >= $2
                     order by seq limit ${BATCH_ROWS}) as found
             ) as sized where bytes_before < ${BATCH_BYTES}
           )) returning seq`,
  };
  let current = TRASH_WORKSPACE;
  let seq = 0;
  while (!signal.aborted) {
    // The lock keeps other processes from the same one; they take the next.
    const found = await db.transaction(async (query) => {
      const [owner] = await query<{ id: string }>(find, [current]);
      if (owner === undefined) return false;
      if (owner.id !== current) seq = 0;
      current = owner.id;
      const deleted = await query<{ seq: number }>(deleteRows, [current, seq]);
      const next = deleted.reduce((last, row) => Math.max(last, row.seq + 1), seq);
      for (const other of rows.also)
        await query({ text: `delete from ${other} where ${rows.owner} = $1 and seq >= $2 and seq < $3` }, [
          current,
          seq,
          next,
        ]);
      seq = next;
      if (deleted.length === 0) await query({ text: `delete from ${table} where id = $1` }, [current]);
      return true;
    });
    if (!found) return;
    await pause(signal);
  }
}

/**
 * Deletes in small steps what is out of sight already: results of deleted evaluations, and examples that nothing refers to.
 * Safe to run in several processes at once.
 * @param signal ends it after the current step
 */
export async function sweep(db: SystemDatabase, signal: AbortSignal): Promise<void> {
  await sweepOwners(db, EVALUATIONS, signal);
  await sweepOwners(db, EXAMPLES, signal);
}
