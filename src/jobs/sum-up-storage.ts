import { sql } from 'kysely';
import { claim } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import type { Builder } from '../db/statement.ts';

const BATCH_SIZE = 5_000;

/**
 * Adds entries to the sums. Each entry is taken by one process and deleted in the same statement, so that sum and entries
 * together are correct at every moment. Sum rows are locked in a fixed order, so that two concurrent calls cannot deadlock.
 */
const sumUp = (db: Builder) =>
  db
    .with('taken', (cte) =>
      cte
        .deleteFrom('storage_entries')
        .where('id', 'in', (eb) => eb.selectFrom('storage_entries').select('id').$call(claim(BATCH_SIZE)))
        .returning(['workspace_id', 'kind', 'bytes']),
    )
    .with('added', (cte) =>
      cte
        .insertInto('storage_sums')
        .columns(['workspace_id', 'kind', 'bytes'])
        .expression(
          cte
            .selectFrom('taken')
            .select(['workspace_id', 'kind'])
            .select((eb) => eb.fn.sum('bytes').as('bytes'))
            .groupBy(['workspace_id', 'kind'])
            .orderBy('workspace_id')
            .orderBy('kind'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['workspace_id', 'kind'])
            .doUpdateSet((eb) => ({ bytes: eb('storage_sums.bytes', '+', eb.ref('excluded.bytes')) })),
        ),
    )
    .selectFrom('taken')
    .select(sql<number>`count(*)::int`.as('count'));

/** Adds new entries of storage to the sums. Safe to run in several processes at once. */
export async function sumUpStorage({ query }: SystemDatabase): Promise<void> {
  let count = BATCH_SIZE;
  while (count === BATCH_SIZE) [{ count } = { count: 0 }] = await query(sumUp);
}
