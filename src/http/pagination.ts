import { z } from 'zod';
import type { Page } from '../db/read-page.ts';
import type { Sort } from '../db/sort.ts';
import { invalidField } from '../domain/errors.ts';
import { isInsaneText } from '../domain/text/json-faults.ts';
import { wholeNumber } from './fields.ts';

/** Query parameters of every list. */
export const PageQuery = {
  limit: wholeNumber({
    min: 1,
    max: 1000,
    description: 'The maximum number to return. A page ends earlier if its records are large (about 4 MiB).',
    byDefault: 100,
  })
    .default(100)
    .meta({ param: { id: 'Limit' } }),
  cursor: z
    .string()
    .max(1000)
    .optional()
    .meta({
      description: 'The `next_cursor` of the previous page. Omit it for the first page.',
      param: { id: 'Cursor' },
    }),
};

/** The query parameter of a list with several orders. @param names with a minus for descending order */
export function sortField<Name extends string>(names: readonly Name[], description: string) {
  const sorts = names.flatMap((name): Sort<Name>[] => [name, `-${name}`]);
  return z
    .enum(sorts, `must be one of ${sorts.join(', ')}`)
    .optional()
    .meta({ description });
}

/** The shape of every list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Pass it as `cursor` to get the next page. Null on the last page.' }),
  });
}

/** The position after the last item of a page: its sort key. Opaque to callers. */
export function encodeCursor(position: string): string {
  return Buffer.from(JSON.stringify([position])).toString('base64url');
}

/**
 * @param position the schema of a position
 * @throws ApiError `invalid_request` for anything not created by {@link encodeCursor}
 */
export function decodeCursor(cursor: string | undefined, position: z.ZodType<string>): string | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [text] = z.tuple([position]).parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    if (!isInsaneText(text)) return text;
  } catch {
    // Not base64, not JSON, or not a position of this list.
  }
  throw invalidField('cursor', 'is not a cursor of this list: pass a next_cursor unchanged, or omit it');
}

/** Presents a page of a list. */
export function toPage<Row, Item>(
  { rows, more }: Page<Row>,
  present: (row: Row) => Item,
  positionOf: (row: Row) => string,
): { data: Item[]; next_cursor: string | null } {
  const last = rows.at(-1);
  return { data: rows.map(present), next_cursor: more && last !== undefined ? encodeCursor(positionOf(last)) : null };
}
