import type { Query } from '../../db/database.ts';
import type { ExampleContent } from '../../domain/example.ts';
import { newId } from '../../domain/ids.ts';

/** An example ready to be stored. */
export interface KeyedExample extends ExampleContent {
  key: string;
}

const INSERT_VERSION = {
  text: `insert into dataset_versions (workspace_id, id, dataset_id, version, examples_total, hash, created_at)
         values ($1, $2, null, 0, $3, $4, now())`,
};
const INSERT_EXAMPLES = {
  name: 'insert-examples',
  text: `insert into dataset_examples
           (workspace_id, dataset_version_id, seq, example_key, variables, expected, metadata)
         select $1, $2, * from unnest($3::int[], $4::text[], $5::jsonb[], $6::jsonb[], $7::jsonb[])`,
};

/** Makes a set of examples that belongs to no dataset yet. */
export async function insertVersion(query: Query, total: number, hash: Buffer): Promise<string> {
  const id = newId();
  await query(INSERT_VERSION, [id, total, hash]);
  return id;
}

/** Adds examples to a set; the first gets the number `firstSeq`. */
export async function insertExamples(
  query: Query,
  examplesId: string,
  firstSeq: number,
  examples: KeyedExample[],
): Promise<void> {
  await query(INSERT_EXAMPLES, [
    examplesId,
    examples.map((_, index) => firstSeq + index),
    examples.map(({ key }) => key),
    examples.map(({ variables }) => variables),
    examples.map(({ expected }) => expected),
    examples.map(({ metadata }) => metadata),
  ]);
}
