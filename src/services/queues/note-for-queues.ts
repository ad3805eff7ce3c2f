import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';

/** Makes the next filling of queues look at a settled trace, if any queue takes traces. @param trace UUID */
export async function noteForQueues(query: Query, trace: string): Promise<void> {
  await query((db) =>
    db
      .insertInto('queue_candidates')
      .columns(['trace_id'])
      .expression((eb) =>
        eb
          .selectFrom('queues')
          .select(sql<string>`${trace}::uuid`.as('trace_id'))
          .where('trace_filter', 'is not', null)
          .limit(1),
      ),
  );
}
