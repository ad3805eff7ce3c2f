import { type QueryCreator, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Builder, type Parameters, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { mayBegin } from './may-begin.ts';

/** A statement that has begun with `gone`: the rows that are withdrawn. */
export type WithGone = QueryCreator<Tables & { gone: { id: string; workspace_id: string } }>;

/** What differs between the tables whose rows are withdrawn. */
export interface WithdrawnTable {
  table: 'executions' | 'evaluations';
  /** Whether a row has not begun. */
  isUnbegun: RawBuilder<SqlBool>;
  /** Begins a statement with `gone`: cancels a row that has begun. */
  cancel: (db: Builder, id: Parameters<{ id: string }>['id']) => WithGone;
  /** Also deletes what belongs to rows that are deleted (`gone`). Default: nothing does. */
  deleteBelongings?: (db: WithGone) => WithGone;
}

export interface RowWithdrawal {
  /**
   * Withdraws a row of which no caller was told in time, with its idempotency key.
   * @returns whether it was withdrawn
   */
  withdrawUnaccepted: (query: Query, id: string) => Promise<boolean>;
  /**
   * Withdraws a row whose caller is told that it failed, with its idempotency key: one that has not begun is deleted.
   * @param force also one that a caller may have been told of; one that has begun is canceled
   * @returns false where it runs, or will: the start did reach Temporal, or another request waits for it
   */
  withdraw: (db: WorkspaceDatabase, id: string, force: boolean) => Promise<boolean>;
}

/** Deletes the idempotency keys of what is withdrawn. */
const withoutKeys = (db: WithGone) =>
  db
    .with('keys', (cte) =>
      cte
        .deleteFrom('idempotency_keys as k')
        .using('gone')
        .whereRef('k.workspace_id', '=', 'gone.workspace_id')
        .where('k.resource_id', '=', sql<string>`gone.id::text`),
    )
    .selectFrom('gone')
    .select('gone.id');

export function createRowWithdrawal({
  table,
  isUnbegun,
  cancel,
  deleteBelongings = (db) => db,
}: WithdrawnTable): RowWithdrawal {
  // Both have the columns that are named here.
  const rows = table as 'executions';
  /** `inTime`: also one of which a caller may still be told. */
  const DELETE = prepared<{ id: string; force: boolean; inTime: boolean }>()((db, { id, force, inTime }) =>
    withoutKeys(
      deleteBelongings(
        db.with('gone', (cte) =>
          cte
            .deleteFrom(rows)
            .where('id', '=', id)
            .where(isUnbegun)
            .where((eb) =>
              eb.or([
                sql<boolean>`${force}::boolean`,
                eb.and([eb('accepted_at', 'is', null), sql<boolean>`(${inTime}::boolean or not ${mayBegin})`]),
              ]),
            )
            .returning(['id', 'workspace_id']),
        ),
      ),
    ),
  );
  const CANCEL = prepared<{ id: string }>()((db, { id }) => withoutKeys(cancel(db, id)));
  const FIND = prepared<{ id: string }>()((db, { id }) => db.selectFrom(rows).select('id').where('id', '=', id));

  return {
    async withdrawUnaccepted(query, id) {
      return (await query(DELETE, { id, force: false, inTime: false })).length > 0;
    },

    async withdraw({ query }, id, force) {
      if ((await query(DELETE, { id, force, inTime: true })).length > 0) return true;
      if (force && (await query(CANCEL, { id })).length > 0) return true;
      return (await query(FIND, { id })).length === 0;
    },
  };
}
