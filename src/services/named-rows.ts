import {
  type Expression,
  type ExpressionBuilder,
  type InsertObject,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
  type UpdateObject,
} from 'kysely';
import type { Query } from '../db/database.ts';
import { lockInWorkspace } from '../db/lock.ts';
import { type Page, selectPage } from '../db/read-page.ts';
import { now } from '../db/sql.ts';
import { asJson, type Builder, prepared } from '../db/statement.ts';
import type { Tables } from '../db/tables.ts';
import type { AuditAction } from '../domain/audit.ts';
import { notFound } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { hasValues } from './audit/has-values.ts';
import { recordChange } from './audit/record-change.ts';

// Rows that callers address by a name of their choice or an id: how to read, list, replace and delete them.

/** The columns that identify a row within its workspace. */
type Keys<Key extends string> = { [Name in Key]: string };

interface RowsSpec<DB, TB extends keyof DB, Row, Key extends keyof Row & string> {
  /** All rows of a workspace. */
  select: (db: Builder) => SelectQueryBuilder<DB, TB, Row>;
  /** Columns of the select. */
  keys: readonly Key[];
  /** The order of lists, by a column that is unique in the list. Default: the last key, ids newest first, names from a to z. */
  order?: readonly [column: keyof Row & string, direction: 'asc' | 'desc'];
  /** The table, or its alias, that has the keys. Needed only if there are several tables. */
  of?: TB & string;
  /** The size of a row in a list, in bytes, from columns of the select. */
  bytes: (eb: ExpressionBuilder<{ found: Row }, 'found'>) => Expression<number>;
  /** The name of the row in errors. */
  what: string | ((at: Keys<Key>) => string);
}

/** How the rows of a resource are read. */
export function rowsBy<DB, TB extends keyof DB, Row, Key extends keyof Row & string>(spec: RowsSpec<DB, TB, Row, Key>) {
  const { select, keys, of, bytes, what } = spec;
  const column = (key: string) => sql.ref<string>(of === undefined ? key : `${of}.${key}`);
  const last = keys.at(-1) as Key;
  const [position, direction] = spec.order ?? [last, last === 'id' ? 'desc' : 'asc'];
  const selectOne = (db: Builder, at: { readonly [Name in Key]: unknown }) =>
    keys.reduce((rows, key) => rows.where(sql<SqlBool>`${column(key)} = ${at[key]}`), select(db));
  const FIND = prepared<Keys<Key>>()((db, at) => selectOne(db, at));
  const LOCK = prepared<Keys<Key>>()((db, at) => selectOne(db, at).forUpdate(of as never));

  function found<Found>(row: Found | undefined, at: Keys<Key>): Found {
    if (row === undefined) throw notFound(typeof what === 'string' ? what : what(at));
    return row;
  }

  const find = async (query: Query, at: Keys<Key>): Promise<Row | undefined> => (await query(FIND, at))[0];
  /** Locks the row until the transaction ends. */
  const lock = async (query: Query, at: Keys<Key>): Promise<Row | undefined> => (await query(LOCK, at))[0];

  return {
    find,
    lock,
    found,
    /** @throws ApiError `not_found` */
    get: async (query: Query, at: Keys<Key>): Promise<Row> => found(await find(query, at), at),
    /**
     * A page of at most `limit`. @param after the key of the last row of the page before, or the value that orders the list
     * @param where default: all
     */
    list: (query: Query, limit: number, after: string | undefined, where?: Expression<SqlBool>): Promise<Page<Row>> =>
      selectPage(
        query,
        {
          select: (db) => {
            const rows = where === undefined ? select(db) : select(db).where(where);
            if (after === undefined) return rows;
            return rows.where(sql<SqlBool>`${column(position)} ${sql.raw(direction === 'desc' ? '<' : '>')} ${after}`);
          },
          orderBy: [[position, direction]],
          bytes,
        },
        limit,
      ),
  };
}

/** Tables whose rows have names chosen by callers. */
type NamedTable = {
  [Name in keyof Tables]: 'id' | 'updated_at' extends keyof Tables[Name] ? Name : never;
}[keyof Tables];

interface NamedSpec<Table extends NamedTable, DB, TB extends keyof DB, Row, Key extends keyof Row & string>
  extends RowsSpec<DB, TB, Row, Key> {
  table: Table;
  /** Columns that are stored as JSON. */
  json?: readonly string[];
  /** The audit log actions; a change without an action is not recorded. */
  audit?: { created?: AuditAction; updated?: AuditAction; deleted?: AuditAction };
  /** Columns that the caller does not set: of a new row (default: `created_at`), and of a row that is replaced. */
  onCreate?: Record<string, unknown>;
  onReplace?: Record<string, unknown>;
}

/** The content to store in a row. */
interface Wanted {
  /** By column. */
  values: Record<string, unknown>;
  /** Columns that are stored, but not compared to detect changes. */
  besides?: Record<string, unknown>;
  /** Whether everything that is not in `values` is unchanged. */
  isSame?: boolean;
  /** For the audit log. */
  details?: Record<string, JsonValue>;
}

/** Rows that callers create, replace and delete by name. */
export function namedRows<
  Table extends NamedTable,
  DB,
  TB extends keyof DB,
  Row extends object,
  Key extends keyof Row & string,
>(spec: NamedSpec<Table, DB, TB, Row, Key>) {
  const { table, keys, json = [], audit = {}, onCreate = { created_at: now }, onReplace } = spec;
  const rows = rowsBy(spec);
  const name = (at: Keys<Key>) => at[keys.at(-1) as Key];

  async function write(query: Query, at: Keys<Key>, values: Record<string, unknown>): Promise<void> {
    const stored = Object.entries(values).map(([column, value]) => [
      column,
      json.includes(column) ? asJson(value as JsonValue) : value,
    ]);
    const columns = { ...Object.fromEntries(stored), updated_at: now };
    const added = { id: newId(), ...at, ...columns, ...onCreate } as unknown as InsertObject<Tables, Table>;
    const replaced = { ...columns, ...onReplace } as unknown as UpdateObject<Tables, Table, Table>;
    await query((db) =>
      db
        .insertInto(table)
        .values(added)
        .onConflict((conflict) => conflict.columns(['workspace_id', ...keys] as never).doUpdateSet(replaced as never)),
    );
  }

  return {
    ...rows,

    /**
     * Creates the row, or replaces the one of this name, in the caller's transaction. Concurrent calls run one after the other.
     * If the row already has all values, nothing is written or recorded.
     * @param decide returns the content, after the existing row is locked; throws to refuse the change
     * @param changed what to do afterwards; for a new row at the end, such as checking a limit on their number
     */
    async put(
      query: Query,
      at: Keys<Key>,
      decide: (before: Row | undefined) => Wanted | Promise<Wanted>,
      {
        replaced,
        created,
      }: {
        replaced?: (before: Row, after: Row) => Promise<void>;
        created?: (query: Query) => Promise<void>;
      } = {},
    ): Promise<Row> {
      await lockInWorkspace(query, `${table} ${keys.map((key) => at[key]).join(' ')}`);
      const before = await rows.lock(query, at);
      const { values, besides = {}, isSame = true, details } = await decide(before);
      if (before !== undefined && isSame && hasValues(before, values)) return before;
      await write(query, at, { ...values, ...besides });
      if (before !== undefined) await replaced?.(before, await rows.get(query, at));
      const action = before === undefined ? audit.created : audit.updated;
      if (action !== undefined) await recordChange(query, action, name(at), details);
      if (before === undefined) await created?.(query);
      return rows.get(query, at);
    },

    /**
     * Deletes a row, in the caller's transaction.
     * @param first called with the row while it exists
     * @returns the row as it was
     * @throws ApiError `not_found`, also if a concurrent request has deleted it
     */
    async delete(
      query: Query,
      at: Keys<Key>,
      { first, details }: { first?: (row: Row) => Promise<void>; details?: Record<string, JsonValue> } = {},
    ): Promise<Row> {
      const row = rows.found(await rows.lock(query, at), at);
      await first?.(row);
      // Typed as one of the tables: the condition applies to any of them.
      const isRow = keys.map((key) => sql<SqlBool>`${sql.ref(key)} = ${at[key]}`);
      await query((db) => db.deleteFrom(table as 'rules').where(sql<SqlBool>`${sql.join(isRow, sql` and `)}`));
      if (audit.deleted !== undefined) await recordChange(query, audit.deleted, name(at), details);
      return row;
    },
  };
}

/** A row of a resource. */
export type RowIn<Resource> = Resource extends { get: (...args: never) => Promise<infer Row> } ? Row : never;
