import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { arrayOf, now } from './sql.ts';
import type { Builder } from './statement.ts';

/**
 * Takes at most `limit` of the rows (default: all), locked until the transaction ends, and skips locked ones: of several
 * processes one gets each. `db.selectFrom('rules').select('id').where(…).orderBy('check_at').$call(claim(100))`
 */
export const claim =
  (limit?: number | Expression<number>) =>
  <DB, Table extends keyof DB, Row>(rows: SelectQueryBuilder<DB, Table, Row>) => {
    const locked = rows.forUpdate().skipLocked();
    return limit === undefined ? locked : locked.limit(limit);
  };

/** The number of overdue rows taken at a time. */
export const OVERDUE_AT_ONCE = 100;

/** Tables with the due time of rows in `check_at`. */
export type CheckedTable =
  | 'executions'
  | 'evaluations'
  | 'provider_batches'
  | 'releases'
  | 'improvements'
  | 'schedules'
  | 'deliveries'
  | 'notifications'
  | 'rules'
  | 'rule_backfills'
  | 'sessions';

/**
 * Starts a statement with `overdue (id)`: claimed rows whose `check_at` has passed, the longest overdue first. The statement must set a new
 * `check_at`.
 *
 * The table needs `check_at timestamptz`, whose default is when a new row is due, and a partial index on (check_at) with the same condition.
 * @param which rows to check when they are due
 */
export const overdue = (db: Builder, table: CheckedTable, which: Expression<SqlBool>, limit = OVERDUE_AT_ONCE) =>
  db.with('overdue', (cte) =>
    cte
      .selectFrom(table)
      .select('id')
      .where(which)
      .where('check_at', '<=', now)
      .orderBy('check_at')
      .$call(claim(limit)),
  );

/** `work_id` only if it is among the keys. */
interface Keys {
  workspace_id: string;
  work_id: string;
}

/**
 * Starts a statement with `found`: the distinct values of the columns `keys`. It goes from one value to the next through an index
 * that starts with them, so its cost grows with their number, not with the number of rows.
 * @param due which rows count. Default: all
 */
export function distinctKeys(
  db: Builder,
  table: 'events' | 'deliveries' | 'traces' | 'rule_items' | 'queue_candidates',
  keys: readonly (keyof Keys)[],
  due: Expression<SqlBool> = sql<SqlBool>`true`,
) {
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  const last = sql.join(keys.map((key) => sql.ref(`found.${key}`)));
  const first = db
    .selectFrom(table)
    .select(keys.map((key) => sql.ref<string>(key).as(key)))
    .where(due)
    .orderBy(columns)
    .limit(sql.lit(1))
    .$castTo<Keys>();
  const next = first.where(sql<SqlBool>`(${columns}) > (${last})`);
  return db.withRecursive('found', (cte) =>
    cte
      .selectFrom(first.as('first'))
      .selectAll()
      .unionAll(
        cte
          .selectFrom('found')
          .innerJoinLateral(next.as('next'), (join) => join.onTrue())
          .selectAll('next'),
      ),
  );
}

/** The number of rows claimed at a time, taking turns between workspaces. A killed process leaves at most this many behind. */
export const IN_TURN = 100;
/** The maximum number of rows of one workspace among them: rows of other workspaces wait for no more than this. */
const OF_WORKSPACE = 10;

interface DueRows {
  /** Which rows are due. */
  due: RawBuilder<boolean>;
  /** The order within a workspace. */
  orderBy: readonly RawBuilder<unknown>[];
  /** Ids of workspaces to skip. */
  exceptWorkspaces?: Expression<string[]>;
}

/**
 * Starts a statement with `next (id, rank)`: due rows, taken round robin from the workspaces that have any. The statement must
 * claim those of {@link anyOfNext} that are still due. The limits are literals, so that a generic plan knows them.
 */
export function dueInTurn(
  db: Builder,
  table: 'events' | 'deliveries' | 'traces',
  { due, orderBy, exceptWorkspaces }: DueRows,
) {
  const order = sql.join(orderBy);
  return distinctKeys(db, table, ['workspace_id'], due).with('next', (cte) =>
    cte
      .selectFrom('found')
      .crossJoinLateral((eb) =>
        eb
          .selectFrom((first) =>
            first
              .selectFrom(table)
              .selectAll()
              .where(due)
              .whereRef('workspace_id', '=', 'found.workspace_id')
              .orderBy(order)
              .limit(sql.lit(OF_WORKSPACE))
              .as('first'),
          )
          .select(['first.id', sql<number>`row_number() over (order by ${order})`.as('rank')])
          .as('row'),
      )
      .select(['row.id', 'row.rank'])
      .$if(exceptWorkspaces !== undefined, (all) =>
        all.where(sql<boolean>`found.workspace_id <> all (${exceptWorkspaces}::uuid[])`),
      )
      .orderBy('row.rank')
      .orderBy(sql`random()`)
      .limit(sql.lit(IN_TURN)),
  );
}

/**
 * For comparisons: `eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id')))`. An array is looked up by the primary key.
 * IN would be joined, which reads the whole table at each call if statistics were collected while many rows were due.
 */
export const anyOfNext = (ids: Expression<{ id: string | null }>): RawBuilder<string> => sql`any(${arrayOf(ids)})`;

/** Whether there may be more rows than were found: a workspace may have more, or another process may have locked some. */
export const mayHaveMore = (found: number, taken: number) => found >= OF_WORKSPACE || taken < found;
