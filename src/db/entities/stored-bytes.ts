import { p } from '@mikro-orm/core';
import type { GeneratedAlways } from 'kysely';

/**
 * The size of a row's texts in bytes: maintained by PostgreSQL, so that a page can be cut by size without reading large values.
 * @param columns `jsonb` columns as `name::text`
 */
export const storedBytes = (...columns: string[]) =>
  p
    .integer()
    .generated(`(${columns.map((column) => `COALESCE(octet_length(${quoted(column)}), 0)`).join(' + ')}) stored`)
    .$type<GeneratedAlways<number>>();

/** In the form in which PostgreSQL returns the expression, because the schema is compared with it. */
function quoted(column: string): string {
  return column.endsWith('::text') ? `(${column.slice(0, -'::text'.length)})::text` : column;
}
