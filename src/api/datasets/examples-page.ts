import { z } from 'zod';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { invalidField } from '../../domain/errors.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';
import { getDataset } from '../../services/datasets/datasets.ts';
import { readExamples } from '../../services/datasets/read-examples.ts';

/** `version seq`: a list stays in the version that it began with. */
const Position = z.string().regex(/^[1-9]\d{0,8} [1-9]\d{0,8}$/);

/**
 * A page of a version's examples; it ends early where they are large.
 * @throws ApiError `not_found`, `invalid_request`
 */
export async function examplesPage(
  db: WorkspaceDatabase,
  name: string,
  { version, limit, cursor }: { version?: number | undefined; limit: number; cursor?: string | undefined },
) {
  const [begun, seq] = decodeCursor(cursor, Position)?.split(' ').map(Number) ?? [];
  if (begun !== undefined && version !== undefined && begun !== version)
    throw invalidField('cursor', `is one of version ${begun}: leave out version, or give that one`);
  const dataset = await getDataset(db.query, name, version ?? begun);
  const data = await readExamples(db.query, dataset.examples_id, seq ?? 0, limit);
  const next = (data.at(-1)?.seq ?? dataset.examples_total) + 1;
  return { data, next_cursor: next < dataset.examples_total ? encodeCursor(`${dataset.version} ${next}`) : null };
}
