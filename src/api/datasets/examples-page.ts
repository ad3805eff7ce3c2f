import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { invalidField } from '../../domain/errors.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';
import { getDataset } from '../../services/datasets/datasets.ts';
import { readExamples, type ShownExample, searchExamples } from '../../services/datasets/read-examples.ts';
import type { ExamplesQuery } from './schema.ts';

/** `version seq`: paging stays in the version it started with. */
const Position = z.string().regex(/^[1-9]\d{0,8} [1-9]\d{0,8}$/);

/**
 * A page of a version's examples, optionally only examples that contain the text `q`; it ends early if they are large.
 * @throws ApiError `not_found`, `invalid_request`
 */
export async function examplesPage(
  db: WorkspaceDatabase,
  name: string,
  { version, q, limit, cursor }: z.output<typeof ExamplesQuery>,
) {
  const [begun, seq = 0] = decodeCursor(cursor, Position)?.split(' ').map(Number) ?? [];
  if (begun !== undefined && version !== undefined && begun !== version)
    throw invalidField('cursor', `belongs to version ${begun}: omit version, or pass that version`);
  const dataset = await getDataset(db.query, name, version ?? begun);
  const { examples_id: id, examples_total: total } = dataset;
  const page = (data: ShownExample[], next: number) => ({
    data,
    next_cursor: next < total ? encodeCursor(`${dataset.version} ${next}`) : null,
  });
  if (q !== undefined) {
    const { examples, next } = await searchExamples(db.heavy.query, id, q, seq, limit);
    return page(examples, next);
  }
  const examples = await readExamples(db.query, id, seq, limit);
  return page(examples, (examples.at(-1)?.seq ?? total) + 1);
}
