import { ApiError } from '../domain/errors.ts';
import type { Route } from './route.ts';

/** The name of a tag in addresses: `audit-log` for `Audit log`. */
export const tagName = ({ tag }: Pick<Route, 'tag'>): string =>
  tag.toLowerCase().replaceAll("'", '').replaceAll(' ', '-');

/**
 * The names of tags in a query parameter, separated by commas; undefined if it is not given.
 * @param known the possible names
 * @throws ApiError `invalid_request`, which lists them
 */
export function tagsIn(
  parameter: string,
  given: string | readonly string[] | undefined,
  known: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined;
  const names = new Set([given].flat().flatMap((value) => value.split(',')));
  if ([...names].every((name) => known.has(name))) return names;
  const message = `is not a list of names separated by commas; known are ${[...known].toSorted().join(', ')}`;
  throw new ApiError('invalid_request', `${parameter}: ${message}`, { details: [{ path: parameter, message }] });
}
