import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { squareOf } from '../../db/sql.ts';
import { TRACE } from '../../domain/analysis/check.ts';

/**
 * Deletes scores that a reviewer withdraws, and removes them from the numbers of the release that they count for. Runs in the
 * caller's transaction.
 * @param ids UUIDs; missing ones are ignored
 */
export async function withdrawScores(query: Query, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await query((db) =>
    db
      .with('gone', (cte) =>
        cte
          .deleteFrom('scores')
          .where(sql<boolean>`id = any(${ids}::uuid[])`)
          .returning(['release_id', 'release_stage', 'arm', 'subject_at', 'name', 'number', 'trace_id']),
      )
      .insertInto('release_score_entries')
      .columns(['release_id', 'stage', 'arm', 'created_at', 'name', 'count', 'total', 'squares'])
      .expression((eb) =>
        eb
          .selectFrom('gone')
          .select((gone) => [
            gone.ref('gone.release_id').$notNull().as('release_id'),
            gone.ref('gone.release_stage').$notNull().as('stage'),
            gone.ref('gone.arm').$notNull().as('arm'),
            'gone.subject_at as created_at',
            sql<string>`case when ${gone.ref('gone.trace_id')} is null then '' else ${sql.lit(TRACE)} end || ${gone.ref('gone.name')}`.as(
              'name',
            ),
            sql<number>`-1`.as('count'),
            sql<number>`-number`.as('total'),
            sql<number>`-${squareOf(gone.ref('gone.number'))}`.as('squares'),
          ])
          .where('gone.release_id', 'is not', null)
          .where('gone.release_stage', 'is not', null)
          .where('gone.arm', 'is not', null)
          .where('gone.number', 'is not', null),
      ),
  );
}
