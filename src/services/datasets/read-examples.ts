import type { Query } from '../../db/database.ts';
import { readPage } from '../../db/read-page.ts';
import type { Example } from '../../domain/example.ts';
import { CONTENT_KEY_PREFIX } from '../../domain/example.ts';
import type { JsonValue } from '../../domain/json.ts';

/** A stored example. `id` is the one it was given, if any. */
export interface StoredExample extends Example {
  seq: number;
  key: string;
}

interface ExampleRow {
  seq: number;
  example_key: string;
  variables: Record<string, JsonValue>;
  expected: JsonValue;
  has_expected: boolean;
  metadata: Record<string, JsonValue> | null;
}

const PAGE = {
  select: `select seq, example_key, variables, expected, expected is not null as has_expected, metadata, bytes
           from dataset_examples where workspace_id = $1 and dataset_version_id = $2 and seq >= $3`,
  orderBy: 'seq',
  bytes: 'bytes',
};
const MAX_PAGE_EXAMPLES = 1000;

function toExample(row: ExampleRow): StoredExample {
  return {
    seq: row.seq,
    key: row.example_key,
    ...(row.example_key.startsWith(CONTENT_KEY_PREFIX) ? {} : { id: row.example_key }),
    variables: row.variables,
    ...(row.has_expected ? { expected: row.expected } : {}),
    ...(row.metadata === null ? {} : { metadata: row.metadata }),
  };
}

async function readRows(query: Query, examplesId: string, from: number, limit: number): Promise<ExampleRow[]> {
  return (await readPage<ExampleRow>(query, PAGE, [examplesId, from], limit)).rows;
}

/** Examples in order from `seq` on: at most `limit`, fewer where they are large, and none only behind the last. */
export async function readExamples(
  query: Query,
  examplesId: string,
  from: number,
  limit: number,
): Promise<StoredExample[]> {
  return (await readRows(query, examplesId, from, limit)).map(toExample);
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
