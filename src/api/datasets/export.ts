import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { type Column, headingOf } from '../../domain/evaluations/csv-columns.ts';
import { canonicalJson } from '../../domain/text/canonical-json.ts';
import { toCsvText } from '../../domain/text/csv-text.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { RawResponse } from '../../http/route.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import type { DatasetRow } from '../../services/datasets/datasets.ts';
import { exampleNames } from '../../services/datasets/example-names.ts';
import { readAllExamples, type StoredExample } from '../../services/datasets/read-examples.ts';
import { MAX_COLUMNS } from './csv-columns.ts';
import type { UploadFormat } from './upload-body.ts';

const CONTENT_TYPES: Record<UploadFormat, string> = { jsonl: 'application/x-ndjson', csv: 'text/csv' };

function toLine({ id, variables, expected, metadata }: StoredExample): string {
  return `${JSON.stringify({ id, variables, expected, metadata })}\n`;
}

async function csvColumns(db: WorkspaceDatabase, dataset: DatasetRow): Promise<Column[]> {
  const names = await exampleNames(db.heavy.query, dataset.examples_id, MAX_COLUMNS);
  const columns: Column[] = [
    { part: 'id', name: '' },
    ...names.variables.map((name): Column => ({ part: 'variables', name })),
    { part: 'expected', name: '' },
    ...names.metadata.map((name): Column => ({ part: 'metadata', name })),
  ];
  if (columns.length > MAX_COLUMNS)
    throw new ApiError(
      'invalid_request',
      `This dataset would take more than ${MAX_COLUMNS} columns as CSV: export it with format=jsonl.`,
    );
  return columns;
}

function valueIn(example: StoredExample, { part, name }: Column): JsonValue | undefined {
  if (part === 'id' || part === 'expected') return example[part];
  const values = example[part];
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

function toCell(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  return toCsvText(typeof value === 'string' ? value : canonicalJson(value));
}

function toCsv(rows: (string | undefined)[][]): string {
  // Quotes distinguish an empty string from no value, and text from the delimiters that an upload detects.
  return stringify(rows, { quoted_match: /^$|[;\t]/ });
}

/**
 * Exports all examples of a version to a file that can be uploaded again.
 * @throws ApiError `invalid_request` if they do not fit the format
 */
export async function exportDataset(
  db: WorkspaceDatabase,
  dataset: DatasetRow,
  format: UploadFormat,
): Promise<RawResponse> {
  const columns = format === 'csv' ? await csvColumns(db, dataset) : [];
  async function* texts(): AsyncGenerator<string, void, undefined> {
    if (format === 'csv') yield toCsv([columns.map(headingOf)]);
    for await (const examples of readAllExamples(db.heavy.query, dataset.examples_id, dataset.examples_total)) {
      let lines = '';
      for (const example of examples) {
        lines +=
          format === 'jsonl' ? toLine(example) : toCsv([columns.map((column) => toCell(valueIn(example, column)))]);
        if (!(await afterOthers(lines.length))) continue;
        yield lines;
        lines = '';
      }
      yield lines;
    }
  }
  const fileName = `${dataset.name.replaceAll('/', '-')}-v${dataset.version}.${format}`;
  return new RawResponse(CONTENT_TYPES[format], Readable.from(texts(), { objectMode: false }), {
    'Content-Disposition': `attachment; filename="${fileName}"`,
  });
}
