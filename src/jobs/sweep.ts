import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { claim } from '../db/claim.ts';
import type { Query, SystemDatabase } from '../db/database.ts';
import { BATCH_ROWS, pause, withinBatch } from '../db/delete-in-batches.ts';
import type { Tables } from '../db/tables.ts';
import { TRASH_WORKSPACE } from '../db/trash.ts';

/** A resource with many rows that are deleted first, by their `seq`. */
interface Owner {
  table: 'evaluations' | 'dataset_versions';
  /** Which resources to delete. */
  where: Expression<SqlBool>;
  /** The table of the rows, and the column that refers to the resource. */
  rows: { table: 'evaluation_results' | 'dataset_examples'; owner: string };
  /** What else is deleted with each row. */
  also: readonly 'evaluation_judgements'[];
  /** What is deleted after the rows. */
  last: readonly 'scores'[];
}

const EVALUATIONS: Owner = {
  table: 'evaluations',
  where: expressionBuilder<Tables, 'evaluations'>()('workspace_id', '=', TRASH_WORKSPACE),
  rows: { table: 'evaluation_results', owner: 'evaluation_id' },
  also: ['evaluation_judgements'],
  last: ['scores'],
};

const versions = expressionBuilder<Tables, 'dataset_versions'>();
/** Sets of examples that no longer belong to a dataset or an evaluation. */
const EXAMPLES: Owner = {
  table: 'dataset_versions',
  where: versions.and([
    versions('dataset_id', 'is', null),
    versions.not(
      versions.exists(
        versions.selectFrom('evaluations as e').select('e.id').whereRef('e.examples_id', '=', 'dataset_versions.id'),
      ),
    ),
  ]),
  rows: { table: 'dataset_examples', owner: 'dataset_version_id' },
  also: [],
  last: [],
};

/** @returns whether there were any */
async function deleteSome(query: Query, table: 'scores', ofOwner: Expression<SqlBool>): Promise<boolean> {
  const deleted = await query((all) => {
    const found = all
      .selectFrom(table)
      .select([sql`ctid`.as('row'), 'bytes'])
      .where(ofOwner)
      .limit(BATCH_ROWS);
    return all
      .deleteFrom(table)
      .where(sql<SqlBool>`ctid = any(${withinBatch('row', found)})`)
      .returning('id');
  });
  return deleted.length > 0;
}

async function sweepOwners(
  db: SystemDatabase,
  { table, where, rows, also, last }: Owner,
  signal: AbortSignal,
): Promise<void> {
  let current = TRASH_WORKSPACE;
  let seq = 0;

  const step = () =>
    db.transaction(async (query) => {
      // The lock keeps other processes from taking the same one; they take the next.
      const [owner] = await query((all) =>
        all.selectFrom(table).select('id').where(where).where('id', '>=', current).orderBy('id').$call(claim(1)),
      );
      if (owner === undefined) return false;
      if (owner.id !== current) seq = 0;
      current = owner.id;
      const ofOwner = sql<SqlBool>`${sql.ref(rows.owner)} = ${current}`;
      const deleted = await query((all) => {
        const found = all
          .selectFrom(rows.table)
          .select(['seq', 'bytes'])
          .where(ofOwner)
          .where('seq', '>=', seq)
          .orderBy('seq')
          .limit(BATCH_ROWS);
        return all
          .deleteFrom(rows.table)
          .where(ofOwner)
          .where(sql<SqlBool>`seq = any(${withinBatch('seq', found, sql`order by seq`)})`)
          .returning('seq');
      });
      const next = deleted.reduce((last, row) => Math.max(last, row.seq + 1), seq);
      for (const other of also)
        await query((all) => all.deleteFrom(other).where(ofOwner).where('seq', '>=', seq).where('seq', '<', next));
      seq = next;
      if (deleted.length > 0) return true;
      for (const other of last) if (await deleteSome(query, other, ofOwner)) return true;
      await query((all) => all.deleteFrom(table).where('id', '=', current));
      return true;
    });

  while (!signal.aborted && (await step())) await pause(signal);
}

/**
 * Deletes hidden rows in small steps: results of deleted evaluations, and examples that nothing refers to. Safe to run in several
 * processes at once.
 * @param signal stops after the current step
 */
export async function sweep(db: SystemDatabase, signal: AbortSignal): Promise<void> {
  await sweepOwners(db, EVALUATIONS, signal);
  await sweepOwners(db, EXAMPLES, signal);
}
