import type { Query } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import type { Builder } from '../../db/statement.ts';
import type { Example } from '../../domain/example.ts';
import { CONTENT_KEY_PREFIX } from '../../domain/example.ts';

/** A stored example. `id` is the one it was given, if any. */
export interface StoredExample extends Example {
  seq: number;
  key: string;
}

const MAX_PAGE_EXAMPLES = 1000;

/** Examples in order from `seq` on: at most `limit`, fewer where they are large, and none only behind the last. */
export async function readExamples(
  query: Query,
  examplesId: string,
  from: number,
  limit: number,
): Promise<StoredExample[]> {
  const select = (db: Builder) =>
    db
      .selectFrom('dataset_examples')
      .select(['seq', 'example_key as key', 'variables', 'expected', 'metadata', 'bytes'])
      .select((eb) => eb('expected', 'is not', null).as('has_expected'))
      .where('dataset_version_id', '=', examplesId)
      .where('seq', '>=', from);
  const { rows } = await selectPage(
    query,
    { select, orderBy: [['seq', 'asc']], bytes: (eb) => eb.ref('bytes') },
    limit,
  );
  return rows.map(({ seq, key, variables, expected, has_expected, metadata }) => ({
    seq,
    key,
    ...(key.startsWith(CONTENT_KEY_PREFIX) ? {} : { id: key }),
    variables,
    ...(has_expected ? { expected } : {}),
    ...(metadata === null ? {} : { metadata }),
  }));
}

/** The examples were deleted while they were read. */
export class ExamplesGoneError extends Error {}

/**
 * All examples of a set, page by page: memory stays small and no connection is held while the reader is busy.
 * @throws ExamplesGoneError where fewer than `total` are there
 */
export async function* readAllExamples(
  query: Query,
  examplesId: string,
  total: number,
): AsyncGenerator<StoredExample[], void, undefined> {
  for (let seq = 0; seq < total; ) {
    const examples = await readExamples(query, examplesId, seq, MAX_PAGE_EXAMPLES);
    if (examples.length === 0) throw new ExamplesGoneError('The examples were deleted while they were read.');
    seq += examples.length;
    yield examples;
  }
}
