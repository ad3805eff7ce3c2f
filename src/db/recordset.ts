import { type Expression, sql } from 'kysely';

/** Characters of rows in one statement: building and sending a longer one would block the event loop. */
const PART_CHARS = 512 * 1024;

/** JSON texts of rows as parts for {@link recordset}, in their order. */
export function* inParts(rows: readonly string[]): Generator<Buffer> {
  let [from, chars] = [0, 0];
  for (const [at, row] of rows.entries()) {
    if (chars > 0 && chars + row.length > PART_CHARS) {
      yield Buffer.from(`[${rows.slice(from, at).join(',')}]`);
      [from, chars] = [at, 0];
    }
    chars += row.length;
  }
  if (chars > 0) yield Buffer.from(`[${rows.slice(from).join(',')}]`);
}

/**
 * A JSON list of objects as the rows of a table `row`. It comes as bytes, which the driver sends unchanged; a string would have to be encoded first.
 * @param types PostgreSQL's types by column
 */
export function recordset<Row>(rows: Expression<Buffer>, types: Record<keyof Row & string, string>) {
  const columns = Object.entries<string>(types).map(([name, type]) => `${name} ${type}`);
  return sql<Row>`json_to_recordset(convert_from(${rows}::bytea, 'UTF8')::json)`.as<'row'>(
    sql`row (${sql.raw(columns.join(', '))})`,
  );
}
