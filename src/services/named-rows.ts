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

// Rows that callers name, by a name of theirs or by an id: how they are read, listed, replaced and deleted.

/** What tells a row from the others of its workspace. */
type Keys<Key extends string> = { [Name in Key]: string };

interface RowsSpec<DB, TB extends keyof DB, Row, Key extends keyof Row & string> {
  /** All rows of a workspace. */
  select: (db: Builder) => SelectQueryBuilder<DB, TB, Row>;
  /** Columns of the select. */
  keys: readonly Key[];
  /** Of lists, by a column that tells all rows of a list apart. Default: by the last key, an `id` with the newest first, a name from a to z. */
  order?: readonly [column: keyof Row & string, direction: 'asc' | 'desc'];
  /** The table, or its alias, that has the keys. Default: there is only one. */
  of?: TB & string;
  /** What a row takes in a list, in bytes, from columns of the select. */
  bytes: (eb: ExpressionBuilder<{ found: Row }, 'found'>) => Expression<number>;
  /** The row, for errors. */
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
  /** It stays as it is until the transaction ends. */
  const lock = async (query: Query, at: Keys<Key>): Promise<Row | undefined> => (await query(LOCK, at))[0];

  return {
    find,
    lock,
    found,
    /** @throws ApiError `not_found` */
    get: async (query: Query, at: Keys<Key>): Promise<Row> => found(await find(query, at), at),
    /** A page of at most `limit`. @param after the key of the last one before it, or what else orders the list @param where default: all */
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

/** Tables whose rows have names that callers give them. */
type NamedTable = {
  [Name in keyof Tables]: 'id' | 'updated_at' extends keyof Tables[Name] ? Name : never;
}[keyof Tables];

interface NamedSpec<Table extends NamedTable, DB, TB extends keyof DB, Row, Key extends keyof Row & string>
  extends RowsSpec<DB, TB, Row, Key> {
  table: Table;
  /** Columns that are stored as JSON. */
  json?: readonly string[];
  /** Recorded in the audit log; left out: not at all. */
  audit?: { created?: AuditAction; updated?: AuditAction; deleted?: AuditAction };
  /** Besides what a caller says: what a new row has (default: `created_at`), and what another one gets when it is replaced. */
  onCreate?: Record<string, unknown>;
  onReplace?: Record<string, unknown>;
}

/** What a row is to say. */
interface Wanted {
  /** By column. */
  values: Record<string, unknown>;
  /** Columns that are stored, but do not tell whether anything changes. */
  besides?: Record<string, unknown>;
  /** Whether what `values` do not tell is as before. */
  isSame?: boolean;
  /** For the audit log. */
  details?: Record<string, JsonValue>;
}

/** Rows that callers create, replace and delete under a name. */
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
     * Creates a row, or replaces the one of this name, in the caller's transaction. Of two that do so at once, one comes after the other. Where the row
     * says all of it already, nothing is written, and nothing recorded.
     * @param decide what it is to say, once the row that is there is locked; throws to refuse it
     * @param changed what follows from it; of a row that is new, at the end: a limit on their number
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
     * @param first with the row, while it is there
     * @returns it as it was
     * @throws ApiError `not_found`, also where another request was faster
     */
    async delete(
      query: Query,
      at: Keys<Key>,
      { first, details }: { first?: (row: Row) => Promise<void>; details?: Record<string, JsonValue> } = {},
    ): Promise<Row> {
      const row = rows.found(await rows.lock(query, at), at);
      await first?.(row);
      // Typed as one of the tables: the condition is written for any of them.
      const isRow = keys.map((key) => sql<SqlBool>`${sql.ref(key)} = ${at[key]}`);
      await query((db) => db.deleteFrom(table as 'rules').where(sql<SqlBool>`${sql.join(isRow, sql` and `)}`));
      if (audit.deleted !== undefined) await recordChange(query, audit.deleted, name(at), details);
      return row;
    },
  };
}

/** A row of a resource. */
export type RowIn<Resource> = Resource extends { get: (...args: never) => Promise<infer Row> } ? Row : never;
