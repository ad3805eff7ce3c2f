import { type Expression, type RawBuilder, sql } from 'kysely';

/** The time of the transaction. */
export const now = sql<Date>`now()`;

/** `select pg_notify(…)` as a column: notifies every process that listens on the channel, once the transaction is committed. */
export const notify = (channel: string, payload: string | Expression<string>): RawBuilder<string> =>
  sql`pg_notify(${channel}, ${payload}::text)`;

/** The rows of a single-column subquery as an array. */
export const arrayOf = <Row>(subquery: Expression<Row>): RawBuilder<Row[keyof Row][]> => sql`array${subquery}`;

/** For comparisons: `eb('id', '=', anyOf(ids))`. A single parameter, however many ids there are. */
export const anyOf = (uuids: readonly string[]): RawBuilder<string> => sql`any(${uuids}::uuid[])`;

/** The condition of an optional filter, if it is set: `eb.and([...given(status, (value) => eb('status', '=', value))])`. */
export const given = <Value, Condition>(
  value: Value | undefined,
  condition: (value: Value) => Condition,
): Condition[] => (value === undefined ? [] : [condition(value)]);

/** Escapes a text for a LIKE pattern that matches exactly this text. */
export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&');

/** A LIKE pattern for values that contain this text. */
export const containing = (text: string) => `%${escapeLike(text)}%`;

/** The square of a `double precision`; 0 if it is too small, which PostgreSQL refuses to compute. */
export const squareOf = (number: Expression<number | null>): RawBuilder<number> =>
  sql`case when abs(${number}) > 1e-100 then ${number} * ${number} else 0 end`;

/** A time span, to be added to a time. */
export const milliseconds = (count: number | Expression<number>): RawBuilder<Date> =>
  sql`make_interval(secs => ${count}::double precision / 1000)`;

/** The time of the transaction minus a span in milliseconds. */
export const ago = (ms: number | Expression<number>): RawBuilder<Date> => sql`now() - ${milliseconds(ms)}`;

interface ArrayTypes {
  uuid: string;
  text: string;
  integer: number;
  bigint: number;
  numeric: string;
  'double precision': number;
  boolean: boolean;
  jsonb: string;
  timestamptz: Date;
}

/** PostgreSQL's type of an element, and the elements. */
type ArrayColumn = {
  [Type in keyof ArrayTypes]: readonly [
    type: Type,
    elements:
      | readonly (ArrayTypes[Type] | null)[]
      | Expression<ArrayTypes[Type][]>
      | Expression<(ArrayTypes[Type] | null)[]>,
  ];
}[keyof ArrayTypes];

type ElementOf<Elements> =
  Elements extends Expression<infer Values>
    ? ElementOf<Values>
    : Elements extends readonly (infer Element)[]
      ? Element
      : never;

/** Rows converted to an array per column, as input of `unnestOf`. */
export type ArraysOf<Row> = { [Name in keyof Row]: Row[Name][] };

/** @param rows at least one */
export function arraysOf<Row extends object>(rows: readonly Row[]): ArraysOf<Row> {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as ArraysOf<Row>;
}

/** An element of an array of `jsonb`; `null` and `undefined` are SQL NULL. */
export const jsonText = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

/**
 * Arrays as the rows of a table: `db.selectFrom(unnestOf('given', { id: ['uuid', ids] })).select('given.id')`. Elements of
 * `jsonb` are JSON texts.
 */
export function unnestOf<Alias extends string, Columns extends Record<string, ArrayColumn>>(
  alias: Alias,
  columns: Columns,
) {
  const arrays = Object.values(columns).map(([type, elements]) => sql`${elements}::${sql.raw(type)}[]`);
  const names = Object.keys(columns).map((name) => sql.ref(name));
  return sql<{ [Name in keyof Columns]: ElementOf<Columns[Name][1]> }>`unnest(${sql.join(arrays)})`.as<Alias>(
    sql`${sql.ref(alias)}(${sql.join(names)})`,
  );
}
