import { type Expression, type SqlBool, sql } from 'kysely';

/** The field that a list is sorted by, with a minus if the greatest come first. */
export type Sort<Name extends string> = Name | `-${Name}`;

/** @returns the name, and PostgreSQL's keyword for the direction */
export function readSort<Name extends string>(sort: Sort<Name>): { by: Name; direction: 'asc' | 'desc' } {
  const isDescending = sort.startsWith('-');
  return { by: (isDescending ? sort.slice(1) : sort) as Name, direction: isDescending ? 'desc' : 'asc' };
}

/**
 * Whether a row comes after the last row of a page.
 * @param value that the list is sorted by
 * @param last the value of that row
 * @param isNext whether it comes after that row if the values are equal
 */
export const isBehind = (
  value: Expression<number>,
  direction: 'asc' | 'desc',
  last: number,
  isNext: Expression<SqlBool>,
): Expression<SqlBool> =>
  sql<SqlBool>`(${value} ${sql.raw(direction === 'asc' ? '>' : '<')} ${last}::float8
    or (${value} = ${last}::float8 and ${isNext}))`;
