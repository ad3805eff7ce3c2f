import { sql } from 'kysely';
import { claim } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import type { Builder } from '../db/statement.ts';
import { ENTRIES_AT_ONCE, raised, takeAll } from '../db/sums.ts';

/** Adds entries to the sums. Each entry is taken by one process and deleted in the same statement. */
const sumUp = (db: Builder) =>
  db
    .with('taken', (cte) =>
      cte
        .deleteFrom('storage_entries')
        .where('id', 'in', (eb) => eb.selectFrom('storage_entries').select('id').$call(claim(ENTRIES_AT_ONCE)))
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
          conflict.columns(['workspace_id', 'kind']).doUpdateSet(raised('storage_sums', ['bytes'])),
        ),
    )
    .selectFrom('taken')
    .select(sql<number>`count(*)::int`.as('count'));

/** Adds new entries of storage to the sums. Safe to run in several processes at once. */
export const sumUpStorage = ({ query }: SystemDatabase): Promise<void> => takeAll(() => query(sumUp));
