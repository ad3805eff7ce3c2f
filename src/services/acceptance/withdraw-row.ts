import { type QueryCreator, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Builder, type Parameters, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { mayBegin } from './may-begin.ts';

/** A statement that starts with `gone`: the withdrawn rows. */
export type WithGone = QueryCreator<Tables & { gone: { id: string; workspace_id: string } }>;

/** What differs between the tables whose rows can be withdrawn. */
export interface WithdrawnTable {
  table: 'executions' | 'evaluations';
  /** Whether a row has not started. */
  isUnbegun: RawBuilder<SqlBool>;
  /** Starts a statement with `gone`: cancels a row that has started. */
  cancel: (db: Builder, id: Parameters<{ id: string }>['id']) => WithGone;
  /** Also deletes what belongs to the deleted rows (`gone`). Default: deletes nothing else. */
  deleteBelongings?: (db: WithGone) => WithGone;
}

export interface RowWithdrawal {
  /**
   * Withdraws a row, with its idempotency key, if no caller was notified of it in time.
   * @returns whether it was withdrawn
   */
  withdrawUnaccepted: (query: Query, id: string) => Promise<boolean>;
  /**
   * Withdraws a row, with its idempotency key, whose caller receives an error. A row that has not started is deleted.
   * @param force also withdraw a row whose caller may have been notified; a row that has started is canceled
   * @returns false if it runs or will run: the start did reach Temporal, or another request waits for it
   */
  withdraw: (db: WorkspaceDatabase, id: string, force: boolean) => Promise<boolean>;
}

/** Deletes the idempotency keys of the withdrawn rows. */
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
  // Both tables have the columns used here.
  const rows = table as 'executions';
  /** `inTime`: also delete a row whose caller can still be notified. */
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
