import { type Expression, type RawBuilder, sql } from 'kysely';
import { arrayOf } from '../db/sql.ts';
import type { Builder } from '../db/statement.ts';

/** Rows that are taken at a time. What a process that is killed leaves behind is at most this much. */
export const BATCH_SIZE = 100;
/** Rows of one workspace among them: rows of another one wait for no more than this. */
const WORKSPACE_BATCH_SIZE = 10;

interface DueRows {
  /** Which rows are due. */
  due: RawBuilder<boolean>;
  /** Order within a workspace. */
  orderBy: readonly RawBuilder<unknown>[];
  /** Ids of workspaces that are left out. */
  exceptWorkspaces?: Expression<string[]>;
}

/**
 * Begins a statement with `next (id, rank)`: rows that are due, taken round robin from the workspaces that have any. It goes from
 * workspace to workspace by the index, so its cost grows with their number, not with the rows of one that has very many. The limits are
 * literals, so that a generic plan knows them.
 */
export function dueRoundRobin(
  db: Builder,
  table: 'events' | 'deliveries' | 'traces',
  { due, orderBy, exceptWorkspaces }: DueRows,
) {
  const order = sql.join(orderBy);
  return db
    .withRecursive('workspace(id)', (cte) =>
      cte
        .selectFrom((eb) =>
          eb.selectFrom(table).select('workspace_id').where(due).orderBy('workspace_id').limit(sql.lit(1)).as('first'),
        )
        .select((eb) => eb.ref('first.workspace_id').$castTo<string | null>().as('id'))
        .unionAll((eb) =>
          eb
            .selectFrom('workspace')
            .select((each) =>
              each
                .selectFrom(table)
                .select('workspace_id')
                .where(due)
                .whereRef('workspace_id', '>', 'workspace.id')
                .orderBy('workspace_id')
                .limit(sql.lit(1))
                .as('id'),
            )
            .where('workspace.id', 'is not', null),
        ),
    )
    .with('next', (cte) =>
      cte
        .selectFrom('workspace')
        .crossJoinLateral((eb) =>
          eb
            .selectFrom((first) =>
              first
                .selectFrom(table)
                .selectAll()
                .where(due)
                .whereRef('workspace_id', '=', 'workspace.id')
                .orderBy(order)
                .limit(sql.lit(WORKSPACE_BATCH_SIZE))
                .as('first'),
            )
            .select(['first.id', sql<number>`row_number() over (order by ${order})`.as('rank')])
            .as('row'),
        )
        .select(['row.id', 'row.rank'])
        .$if(exceptWorkspaces !== undefined, (all) =>
          all.where(sql<boolean>`workspace.id <> all (${exceptWorkspaces}::uuid[])`),
        )
        .orderBy('row.rank')
        .orderBy(sql`random()`)
        .limit(sql.lit(BATCH_SIZE)),
    );
}

/**
 * To be compared with: `eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id')))`. An array is looked up by the primary key. IN
 * would be joined, and statistics that were taken while many rows were due make that read the whole table at each call.
 */
export const anyOfNext = (ids: Expression<{ id: string | null }>): RawBuilder<string> => sql`any(${arrayOf(ids)})`;

/** Whether there may be more rows than were found: a workspace may have more, or another process has locked some. */
export const mayHaveMore = (found: number, taken: number) => found >= WORKSPACE_BATCH_SIZE || taken < found;
