import { expressionBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { recordset } from '../../db/recordset.ts';
import { now } from '../../db/sql.ts';
import { prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { ExampleContent } from '../../domain/evaluations/example.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';

/** A row of the JSON array for {@link insertRows}. */
interface JsonRow {
  seq: number;
  key: string;
  variables: Record<string, JsonValue>;
  expected: JsonValue;
  expects_null: boolean;
  metadata: Record<string, JsonValue>;
}

const TYPES: Record<keyof JsonRow, string> = {
  seq: 'int',
  key: 'text',
  variables: 'jsonb',
  expected: 'jsonb',
  expects_null: 'boolean',
  metadata: 'jsonb',
};

/** A JSON null in a row becomes SQL NULL, so an expected null has a separate field. */
const INSERT_ROWS = prepared<{ examplesId: string; rows: Buffer }>()((db, { examplesId, rows }) =>
  db
    .insertInto('dataset_examples')
    .columns(['dataset_version_id', 'seq', 'example_key', 'variables', 'expected', 'metadata'])
    .expression((eb) =>
      eb
        .selectFrom(recordset<JsonRow>(rows, TYPES))
        .select([
          sql<string>`${examplesId}::uuid`.as('dataset_version_id'),
          'seq',
          'key',
          'variables',
          sql<JsonValue>`case when expects_null then 'null' else expected end`.as('expected'),
          'metadata',
        ]),
    ),
);

/** Creates a set of examples that belongs to no dataset yet. */
export async function insertVersion(query: Query, total: number, hash: Buffer): Promise<string> {
  const id = newId();
  await query((db) =>
    db
      .insertInto('dataset_versions')
      .values({ id, dataset_id: null, version: 0, examples_total: total, hash, created_at: now }),
  );
  return id;
}

/** An example in the format of {@link insertRows}: a JSON object. */
export function toRow(seq: number, key: string, { variables, expected, metadata }: ExampleContent): string {
  const expectation = expected === null ? '' : expected === 'null' ? ',"expects_null":true' : `,"expected":${expected}`;
  const about = metadata === null ? '' : `,"metadata":${metadata}`;
  return `{"seq":${seq},"key":${JSON.stringify(key)},"variables":${variables}${expectation}${about}}`;
}

/** Adds examples to a set. @param rows a JSON array of {@link toRow} results, in UTF-8 */
export async function insertRows(query: Query, examplesId: string, rows: Buffer): Promise<void> {
  await query(INSERT_ROWS, { examplesId, rows });
}

/** The size of the examples of a set, as an expression. */
export const sizeOf = (examplesId: string) =>
  expressionBuilder<Tables>()
    .selectFrom('dataset_examples')
    .select(sql<number>`coalesce(sum(bytes), 0)::bigint`.as('bytes'))
    .where('dataset_version_id', '=', examplesId);
