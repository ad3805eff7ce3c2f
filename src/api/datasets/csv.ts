import { pipeline } from 'node:stream/promises';
import { CsvError, type Info, parse } from 'csv-parse';
import { fromCsvText } from '../../domain/text/csv-text.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { invalidLine, MAX_EXAMPLE_BYTES, type NumberedExample } from '../../services/datasets/upload-examples.ts';
import { type Column, MAX_COLUMNS, parseColumns } from './csv-columns.ts';
import { readExample } from './json-lines.ts';
import { requireUtf8 } from './utf8.ts';

/** null: an empty cell without quotes. */
type Cells = (string | null)[];

interface NumberedRecord {
  line: number;
  cells: Cells;
}

const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'opens a quote that is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text behind a closing quote: write a quote inside a quoted cell twice',
  INVALID_OPENING_QUOTE:
    'has a quote inside a cell that is not quoted: quote the whole cell, and write the quote twice',
};

function countNewlines(cells: Cells): number {
  let count = 0;
  for (const cell of cells)
    if (cell !== null) for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Where the parser is. Its own count takes CRLF inside quotes for two lines. */
class Progress {
  /** Where its records begin, for those that were not taken from it yet. */
  readonly lines: number[] = [];
  /** Where the last of them ended, in bytes. */
  bytes = 0;
  private next = 1;
  private emptyLines = 0;

  add(cells: Cells, { empty_lines: emptyLines, bytes }: Info): void {
    const line = this.nextLine(emptyLines);
    this.lines.push(line);
    this.next = line + 1 + countNewlines(cells);
    this.emptyLines = emptyLines;
    this.bytes = bytes;
  }

  /** Where the next record begins, behind so many empty lines of the whole file. */
  nextLine(emptyLines: number): number {
    return this.next + emptyLines - this.emptyLines;
  }
}

async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<NumberedRecord, void, undefined> {
  const progress = new Progress();
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    cast: (text, { quoting, index }) => {
      // As many cells as fit into the longest record would keep the process busy for seconds.
      if (index > MAX_COLUMNS)
        throw invalidLine(progress.nextLine(parser.info.empty_lines), '', `has more than ${MAX_COLUMNS} cells`);
      return text === '' && !quoting ? null : text;
    },
    on_record: (record, info) => {
      progress.add(record, info);
      return record;
    },
  });
  async function* bounded(): AsyncGenerator<Buffer, void, undefined> {
    let bytes = 0;
    for await (const chunk of requireUtf8(chunks)) {
      // The parser keeps a record until its end. What it has not read yet is at most one chunk.
      if (bytes - progress.bytes > MAX_EXAMPLE_BYTES + chunk.length)
        throw invalidLine(
          progress.nextLine(parser.info.empty_lines),
          '',
          `is longer than ${MAX_EXAMPLE_BYTES} bytes, or a quote is not closed`,
        );
      bytes += chunk.length;
      yield chunk;
    }
  }
  // Its errors come out of the parser too.
  pipeline(bounded, parser).catch(() => {});
  try {
    const records: AsyncIterable<Cells> = parser;
    for await (const cells of records) yield { line: progress.lines.shift() ?? 1, cells };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw invalidLine(progress.nextLine(parser.info.empty_lines), '', PROBLEMS[error.code] ?? 'is not valid CSV');
  }
}

function toExample(columns: Column[], cells: Cells): JsonValue {
  const parts = { variables: new Map<string, string>(), metadata: new Map<string, string>() };
  const example: Record<string, JsonValue> = {};
  for (const [index, { part, name }] of columns.entries()) {
    const given = cells[index] ?? null;
    const cell = given === null ? null : fromCsvText(given);
    // A variable has a value on every line, since the template needs it.
    if (part === 'variables') parts.variables.set(name, cell ?? '');
    else if (cell === null) continue;
    else if (part === 'metadata') parts.metadata.set(name, cell);
    else example[part] = cell;
  }
  example['variables'] = Object.fromEntries(parts.variables);
  if (parts.metadata.size > 0) example['metadata'] = Object.fromEntries(parts.metadata);
  return example;
}

/**
 * Examples from CSV (RFC 4180) with a header row: `id`, `expected`, `metadata.x`, and the variables as `x` or `variables.x`.
 * Every value is text; a `'` before what a spreadsheet would take for a formula is not a part of it. An empty cell is an empty text for a variable and nothing elsewhere, unless it is quoted.
 * @throws ApiError `invalid_request` naming the line at fault: the first of its record
 */
export async function* parseCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<NumberedExample, void, undefined> {
  let columns: Column[] | undefined;
  for await (const { line, cells } of readRecords(chunks)) {
    if (columns === undefined) {
      columns = parseColumns(line, cells);
      continue;
    }
    if (cells.every((cell) => cell === null)) continue;
    if (cells.length !== columns.length)
      throw invalidLine(line, '', `has ${cells.length} cells where the header has ${columns.length}`);
    yield { line, example: readExample(line, toExample(columns, cells)) };
  }
}
