import type { Query } from '../../db/database.ts';
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
  bytes: number;
}

/** An example may take 1 MiB: pages end at a number of bytes too. The first example of a page always comes. */
const READ_PAGE = {
  text: `select * from (
           select seq, example_key, variables, expected, expected is not null as has_expected, metadata, bytes::int,
             sum(bytes) over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
           from (
             select *, octet_length(variables::text) + coalesce(octet_length(expected::text), 0)
               + coalesce(octet_length(metadata::text), 0) as bytes
             from dataset_examples where workspace_id = $1 and dataset_version_id = $2 and seq >= $3
             order by seq limit $4
           ) as sized
         ) as page where coalesce(bytes_before, 0) < $5 order by seq`,
};
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
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
  return query<ExampleRow>(READ_PAGE, [examplesId, from, limit, MAX_PAGE_BYTES]);
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
  let seq = 0;
  // Not the most at once: it is not known yet how large they are.
  let limit = 20;
  while (seq < total) {
    const rows = await readRows(query, examplesId, seq, limit);
    if (rows.length === 0) throw new ExamplesGoneError('The examples were deleted while they were read.');
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    limit = Math.max(1, Math.min(MAX_PAGE_EXAMPLES, Math.ceil((MAX_PAGE_BYTES / bytes) * rows.length)));
    seq += rows.length;
    yield rows.map(toExample);
  }
}
