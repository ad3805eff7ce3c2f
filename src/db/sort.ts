import { type Expression, type SqlBool, sql } from 'kysely';

/** What a list is sorted by, with a minus where the greatest come first. */
export type Sort<Name extends string> = Name | `-${Name}`;

/** @returns the name, and PostgreSQL's word for the direction */
export function readSort<Name extends string>(sort: Sort<Name>): { by: Name; direction: 'asc' | 'desc' } {
  const isDescending = sort.startsWith('-');
  return { by: (isDescending ? sort.slice(1) : sort) as Name, direction: isDescending ? 'desc' : 'asc' };
}

/**
 * Whether a row comes after the one that a page ended with.
 * @param value by which the list is sorted
 * @param last that of the row
 * @param isNext whether it comes after it where their values are the same
 */
export const isBehind = (
  value: Expression<number>,
  direction: 'asc' | 'desc',
  last: number,
  isNext: Expression<SqlBool>,
): Expression<SqlBool> =>
  sql<SqlBool>`(${value} ${sql.raw(direction === 'asc' ? '>' : '<')} ${last}::float8
    or (${value} = ${last}::float8 and ${isNext}))`;
