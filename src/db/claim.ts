import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { arrayOf, now } from './sql.ts';
import type { Builder } from './statement.ts';

/**
 * Takes at most `limit` of the rows (default: all), locked until the transaction ends, and passes over those that are locked: of several
 * processes one gets each. `db.selectFrom('rules').select('id').where(…).orderBy('check_at').$call(claim(100))`
 */
export const claim =
  (limit?: number | Expression<number>) =>
  <DB, Table extends keyof DB, Row>(rows: SelectQueryBuilder<DB, Table, Row>) => {
    const locked = rows.forUpdate().skipLocked();
    return limit === undefined ? locked : locked.limit(limit);
  };

/** Overdue rows that are taken at a time. */
export const OVERDUE_AT_ONCE = 100;

/** Tables whose rows say in `check_at` when they are due. */
export type CheckedTable =
  | 'executions'
  | 'evaluations'
  | 'provider_batches'
  | 'releases'
  | 'schedules'
  | 'deliveries'
  | 'notifications'
  | 'rules'
  | 'rule_backfills'
  | 'sessions';

/**
 * Begins a statement with `overdue (id)`: claimed rows whose `check_at` has come, the longest overdue first. The statement is to set it anew.
 *
 * The table needs `check_at timestamptz`, whose default says when a new row is due, and a partial index on (check_at) with the same condition.
 * @param which rows are to be looked at when they are due
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

/** `work_id` where it is among the keys. */
interface Keys {
  workspace_id: string;
  work_id: string;
}

/**
 * Begins a statement with `found`: the values that the rows have in `keys`, each once. It goes from one to the next by an index that begins
 * with them, so that its cost grows with their number, not with that of the rows.
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

/** Rows that are claimed in turn at a time. What a process that is killed leaves behind is at most this much. */
export const IN_TURN = 100;
/** Rows of one workspace among them: rows of another one wait for no more than this. */
const OF_WORKSPACE = 10;

interface DueRows {
  /** Which rows are due. */
  due: RawBuilder<boolean>;
  /** Order within a workspace. */
  orderBy: readonly RawBuilder<unknown>[];
  /** Ids of workspaces that are left out. */
  exceptWorkspaces?: Expression<string[]>;
}

/**
 * Begins a statement with `next (id, rank)`: rows that are due, taken round robin from the workspaces that have any. The statement is to
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
 * To be compared with: `eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id')))`. An array is looked up by the primary key. IN
 * would be joined, and statistics that were taken while many rows were due make that read the whole table at each call.
 */
export const anyOfNext = (ids: Expression<{ id: string | null }>): RawBuilder<string> => sql`any(${arrayOf(ids)})`;

/** Whether there may be more rows than were found: a workspace may have more, or another process has locked some. */
export const mayHaveMore = (found: number, taken: number) => found >= OF_WORKSPACE || taken < found;
