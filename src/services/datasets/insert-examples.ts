import type { Query } from '../../db/database.ts';
import type { ExampleContent } from '../../domain/example.ts';
import { newId } from '../../domain/ids.ts';

const INSERT_VERSION = {
  text: `insert into dataset_versions (workspace_id, id, dataset_id, version, examples_total, hash, created_at)
         values ($1, $2, null, 0, $3, $4, now())`,
};
/**
 * The rows come as bytes, which the driver sends as they are: texts would have to be made of them first.
 * A null in JSON is no value to `json_to_recordset`: an expectation of null is in a column of its own.
 */
const INSERT_ROWS = {
  name: 'insert-examples',
  text: `insert into dataset_examples
           (workspace_id, dataset_version_id, seq, example_key, variables, expected, metadata)
         select $1, $2, seq, key, variables, case when expects_null then 'null' else expected end, metadata
         from json_to_recordset(convert_from($3::bytea, 'UTF8')::json)
           as example (seq int, key text, variables jsonb, expected jsonb, expects_null boolean, metadata jsonb)`,
};

/** Makes a set of examples that belongs to no dataset yet. */
export async function insertVersion(query: Query, total: number, hash: Buffer): Promise<string> {
  const id = newId();
  await query(INSERT_VERSION, [id, total, hash]);
  return id;
}

/** An example as {@link insertRows} takes it: a JSON object. */
export function toRow(seq: number, key: string, { variables, expected, metadata }: ExampleContent): string {
  const expectation = expected === null ? '' : expected === 'null' ? ',"expects_null":true' : `,"expected":${expected}`;
  const about = metadata === null ? '' : `,"metadata":${metadata}`;
  return `{"seq":${seq},"key":${JSON.stringify(key)},"variables":${variables}${expectation}${about}}`;
}

/** Adds examples to a set. @param rows a JSON array of what {@link toRow} gives, in UTF-8 */
export async function insertRows(query: Query, examplesId: string, rows: Buffer): Promise<void> {
  await query(INSERT_ROWS, [examplesId, rows]);
}
