import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Info, parse } from 'csv-parse';
import type { Column } from '../../domain/evaluations/csv-columns.ts';
import { type CsvForm, csvFormOf } from '../../domain/text/csv-form.ts';
import { fromCsvText } from '../../domain/text/csv-text.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { invalidLine, MAX_EXAMPLE_BYTES, type NumberedExample } from '../../services/datasets/upload-examples.ts';
import { MAX_COLUMNS, parseColumns } from './csv-columns.ts';
import { readExample } from './json-lines.ts';

const NEWLINE = 0x0a;

/** The number of trailing bytes that form an incomplete character. */
function unfinishedTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** Counts the newlines before the first invalid line. */
function newlinesBeforeFault(bytes: Buffer): number {
  let count = 0;
  let from = 0;
  for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
    if (!isUtf8(bytes.subarray(from, to))) break;
    count += 1;
    from = to + 1;
  }
  return count;
}

/**
 * Passes text through in whole characters.
 * @throws ApiError `invalid_request` naming the line that is not UTF-8
 */
async function* requireUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let line = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinishedTail(bytes));
    if (!isUtf8(whole)) throw invalidLine(line + newlinesBeforeFault(whole), '', 'is not valid UTF-8');
    line += countNewlines(whole);
    rest = Buffer.from(bytes.subarray(whole.length));
    yield whole;
  }
  if (rest.length > 0) throw invalidLine(line, '', 'is not valid UTF-8');
}

/** The format is detected from this many bytes or from the first lines, whichever is less. */
const HEAD_BYTES = 64 * 1024;
/** CRLF counts as two, so this covers at least the headings and one record. */
const HEAD_LINE_ENDS = 4;

/** null means an empty unquoted cell. */
type Cells = (string | null)[];

interface NumberedRecord {
  line: number;
  cells: Cells;
}

const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'opens a quote that is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quote: double quotes inside a quoted cell',
  INVALID_OPENING_QUOTE: 'has a quote inside an unquoted cell: quote the whole cell and double the quote',
};

function countLineEnds(cells: Cells, lineEnd: string): number {
  let count = 0;
  for (const cell of cells)
    if (cell !== null) for (let at = cell.indexOf(lineEnd); at !== -1; at = cell.indexOf(lineEnd, at + 1)) count += 1;
  return count;
}

/** Tracks the parser's position. Its own line count counts CRLF inside quotes as two lines. */
class Progress {
  /** Start lines of the records that have not been consumed yet. */
  readonly lines: number[] = [];
  /** Byte offset where the last record ended. */
  bytes = 0;
  private emptyLines = 0;

  private next: number;
  private readonly lineEnd: string;

  constructor({ start, lineEnd }: CsvForm) {
    // Skips the line that names the delimiter.
    this.next = start > 1 ? 2 : 1;
    this.lineEnd = lineEnd;
  }

  add(cells: Cells, { empty_lines: emptyLines, bytes }: Info): void {
    const line = this.nextLine(emptyLines);
    this.lines.push(line);
    this.next = line + 1 + countLineEnds(cells, this.lineEnd);
    this.emptyLines = emptyLines;
    this.bytes = bytes;
  }

  /** The start line of the next record. @param emptyLines count of empty lines in the file so far */
  nextLine(emptyLines: number): number {
    return this.next + emptyLines - this.emptyLines;
  }
}

/** Reads the first chunks of a file, from which its format is detected. */
async function takeHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const head: Buffer[] = [];
  for (let [bytes, lineEnds] = [0, 0]; bytes < HEAD_BYTES && lineEnds < HEAD_LINE_ENDS; ) {
    const { done, value } = await chunks.next();
    if (done) break;
    head.push(value);
    bytes += value.length;
    lineEnds += value.toString('latin1').match(/[\r\n]/g)?.length ?? 0;
  }
  return Buffer.concat(head);
}

async function* readRecords(
  source: AsyncIterable<Buffer>,
  onForm: (form: CsvForm) => void,
): AsyncGenerator<NumberedRecord, void, undefined> {
  const chunks = requireUtf8(source);
  const head = await takeHead(chunks);
  const text = head.subarray(0, HEAD_BYTES).toString();
  const form = csvFormOf(text);
  onForm(form);
  const progress = new Progress(form);
  const parser = parse({
    delimiter: form.delimiter,
    record_delimiter: form.lineEnd === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    cast: (cell, { quoting, index }) => {
      // A record of maximum length filled with tiny cells would block the process for seconds.
      if (index > MAX_COLUMNS)
        throw invalidLine(progress.nextLine(parser.info.empty_lines), '', `has more than ${MAX_COLUMNS} cells`);
      return cell === '' && !quoting ? null : cell;
    },
    on_record: (record, info) => {
      progress.add(record, info);
      return record;
    },
  });
  async function* bounded(): AsyncGenerator<Buffer, void, undefined> {
    const records = head.subarray(Buffer.byteLength(text.slice(0, form.start)));
    let bytes = records.length;
    yield records;
    for await (const chunk of chunks) {
      // The parser buffers a record until it ends. At most one chunk is still unread.
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
  // Errors surface through the parser as well.
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
    // A variable has a value on every line because the template needs it.
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
 * Parses examples from CSV (RFC 4180, also with other delimiters) with a header row: `id`, `expected`, `metadata.x`, and the
 * variables as `x` or `variables.x`. Every value is text; a leading `'` that protects a cell from being read as a formula is
 * removed. An empty cell is an empty string for a variable and absent for other columns, unless it is quoted.
 * @param onForm receives the detected format before the first example
 * @throws ApiError `invalid_request` naming the first line of the invalid record
 */
export async function* parseCsv(
  chunks: AsyncIterable<Buffer>,
  onForm: (form: CsvForm) => void,
): AsyncGenerator<NumberedExample, void, undefined> {
  let columns: Column[] | undefined;
  for await (const { line, cells } of readRecords(chunks, onForm)) {
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
