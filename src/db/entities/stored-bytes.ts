import { p } from '@mikro-orm/core';
import type { GeneratedAlways } from 'kysely';

/**
 * How many bytes of text a row holds: kept by PostgreSQL, so that a page can be cut by its size without reading large values.
 * @param columns `jsonb` ones as `name::text`
 */
export const storedBytes = (...columns: string[]) =>
  p
    .integer()
    .generated(`(${columns.map((column) => `COALESCE(octet_length(${quoted(column)}), 0)`).join(' + ')}) stored`)
    .$type<GeneratedAlways<number>>();

/** As PostgreSQL shows the expression: the schema is compared with it. */
function quoted(column: string): string {
  return column.endsWith('::text') ? `(${column.slice(0, -'::text'.length)})::text` : column;
}
