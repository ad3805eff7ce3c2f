import { createReadStream } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse';
import { LineCounter, parseDocument } from 'yaml';
import { type CsvForm, csvFormOf } from '../../../src/domain/text/csv-form.ts';
import { LongNumberError, parseExactly } from '../long-numbers.ts';
import { requireExactNumbers } from '../yaml-numbers.ts';
import { ImportError } from './model.ts';
import type { Report } from './report.ts';

/** Maximum size of a file that is read as a whole; lines and rows are streamed from files of any size. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const MAX_YAML_BYTES = 4 * 1024 * 1024;
/** Maximum length of a line or a row; the service accepts examples of up to 1 MiB. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
/** Maximum number of aliases in a YAML file. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 200;
const MAX_FILES = 100_000;
/** A CSV file is detected from this many bytes. */
const CSV_HEAD_BYTES = 64 * 1024;

const LFS_POINTER = 'version https://git-lfs.github.com/';
const NOT_FETCHED = 'it is still with Git LFS: run git lfs pull';

/** A file to import. */
export interface SourceFile {
  /** Its path. */
  path: string;
  /** Relative to the given location, for messages. */
  name: string;
}

/** The pointer that Git LFS leaves instead of a file that was not fetched. */
export async function isLfsPointer(file: SourceFile): Promise<boolean> {
  const handle = await open(file.path).catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(LFS_POINTER.length) });
    return buffer.toString('latin1', 0, bytesRead) === LFS_POINTER;
  } finally {
    await handle.close();
  }
}

/** The files that Git LFS has fetched; the report names the others. */
export async function fetchedFiles(files: readonly SourceFile[], report: Report): Promise<SourceFile[]> {
  const fetched: SourceFile[] = [];
  for (const file of files)
    if (await isLfsPointer(file)) report.leaveOut('file', file.name, NOT_FETCHED);
    else fetched.push(file);
  return fetched;
}

/**
 * The file, or all files of the folder sorted by name.
 * @param extensions of the files in the folder: `.json`, `.prompt.yml`
 * @throws ImportError if there are none
 */
export async function listFiles(location: string, extensions: readonly string[]): Promise<SourceFile[]> {
  const found = await stat(location).catch(() => undefined);
  if (found === undefined) throw new ImportError(`${location}: there is no such file or folder`);
  if (!found.isDirectory()) return [{ path: location, name: path.basename(location) }];
  const entries = await readdir(location, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && extensions.some((ending) => entry.name.toLowerCase().endsWith(ending)))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.split(path.sep).includes('node_modules'))
    .toSorted((a, b) => (a < b ? -1 : 1));
  if (files.length === 0)
    throw new ImportError(`${location}: the folder has no files ending in ${extensions.join(', ')}`);
  if (files.length > MAX_FILES) throw new ImportError(`${location}: the folder has more than ${MAX_FILES} files`);
  return files.map((file) => ({ path: file, name: path.relative(location, file).split(path.sep).join('/') }));
}

/**
 * A file named by another one.
 * @returns undefined if it is missing or outside `folder`: a downloaded configuration can name anything
 */
export async function fileInside(folder: string, named: string): Promise<SourceFile | undefined> {
  try {
    const root = await realpath(folder);
    const file = await realpath(path.resolve(root, named));
    const relative = path.relative(root, file);
    if (relative.startsWith('..') || path.isAbsolute(relative)) return undefined;
    return (await stat(file)).isFile() ? { path: file, name: relative.split(path.sep).join('/') } : undefined;
  } catch {
    return undefined;
  }
}

/** @throws ImportError if it is too large or not UTF-8 */
export async function readText(file: SourceFile, maxBytes = MAX_WHOLE_BYTES): Promise<string> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw new ImportError(`${file.name}: can't be read`, { cause: error });
  });
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new ImportError(`${file.name}: is larger than ${maxBytes / 1024 / 1024} MiB`);
    const bytes = await handle.readFile();
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${file.name}: is not valid UTF-8`, { cause: error });
  } finally {
    await handle.close();
  }
}

/** Iterative, so that no depth overflows the stack. @throws ImportError */
function requireShallow(value: unknown, name: string): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new ImportError(`${name}: is nested deeper than ${MAX_DEPTH} levels`);
    const next: unknown[] = [];
    for (const item of level)
      if (typeof item === 'object' && item !== null)
        for (const inner of Object.values(item)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    level = next;
  }
}

/** @throws ImportError */
export function parseJson(text: string, name: string): unknown {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    if (error instanceof LongNumberError) throw new ImportError(`${name}: ${error.message}`, { cause: error });
    throw new ImportError(`${name}: is not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  requireShallow(value, name);
  return value;
}

/** @throws ImportError */
export async function readJson(file: SourceFile): Promise<unknown> {
  return parseJson(await readText(file), file.name);
}

/**
 * Parses YAML of other products: with anchors, aliases and merge keys, but within a limit on aliases.
 * @param options `firstLine` of the text in the file; `uniqueKeys`: whether a duplicate key is an error, rather than the last one
 * winning. Default: 1, true
 * @throws ImportError naming the line
 */
export function parseYaml(text: string, name: string, { firstLine = 1, uniqueKeys = true } = {}): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = lines.linePos(error.pos[0]).line + firstLine - 1;
    throw new ImportError(`${name}:${line}: is not valid YAML: ${error.message}`);
  }
  let value: unknown;
  try {
    requireExactNumbers(document);
  } catch (error) {
    if (error instanceof LongNumberError) throw new ImportError(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw new ImportError(`${name}: has YAML aliases that multiply what they stand for: write it out`);
  }
  requireShallow(value, name);
  return value;
}

/** JSON or YAML, depending on the extension. @throws ImportError */
export async function readData(file: SourceFile): Promise<unknown> {
  if (/\.ya?ml$/i.test(file.name)) return parseYaml(await readText(file, MAX_YAML_BYTES), file.name);
  return readJson(file);
}

/** A line of a file, from 1. */
export interface NumberedLine {
  line: number;
  text: string;
}

/** The lines of a file, one at a time. @throws ImportError if one is too long */
export async function* readLines(file: SourceFile): AsyncGenerator<NumberedLine, void, undefined> {
  const tooLong = (line: number) => new ImportError(`${file.name}:${line}: is longer than ${MAX_LINE_BYTES} bytes`);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes: Buffer, line: number) => {
    if (bytes.length > MAX_LINE_BYTES) throw tooLong(line);
    try {
      return decoder.decode(bytes).replace(/\r$/, '');
    } catch {
      throw new ImportError(`${file.name}:${line}: is not valid UTF-8`);
    }
  };
  let line = 1;
  let begun: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(file.path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      begun.push(chunk.subarray(from, to));
      yield { line, text: decode(Buffer.concat(begun), line) };
      begun = [];
      bytes = 0;
      line += 1;
      from = to + 1;
    }
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw tooLong(line);
    begun.push(chunk.subarray(from));
  }
  if (bytes > 0) yield { line, text: decode(Buffer.concat(begun), line) };
}

/** A value of a JSON Lines file, and its line. */
export interface NumberedValue {
  line: number;
  value: unknown;
}

/** The values of a JSON Lines file, one at a time. @throws ImportError naming the line */
export async function* readJsonLines(file: SourceFile): AsyncGenerator<NumberedValue, void, undefined> {
  for await (const { line, text } of readLines(file))
    if (text.trim() !== '') yield { line, value: parseJson(text, `${file.name}:${line}`) };
}

/** A row of a CSV file by heading, and its first line. */
export interface NumberedRow {
  line: number;
  row: Map<string, string>;
}

/** @throws ImportError */
async function formOf(file: SourceFile): Promise<CsvForm & { startBytes: number }> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw new ImportError(`${file.name}: can't be read`, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(CSV_HEAD_BYTES) });
    const head = buffer.toString('utf8', 0, bytesRead);
    const form = csvFormOf(head);
    return { ...form, startBytes: Buffer.byteLength(head.slice(0, form.start)) };
  } finally {
    await handle.close();
  }
}

/**
 * The rows of a CSV file with a header row, one at a time.
 * @throws ImportError naming the line
 */
export async function* readCsv(file: SourceFile): AsyncGenerator<NumberedRow, void, undefined> {
  const { delimiter, lineEnd, start, startBytes } = await formOf(file);
  const parser = parse({
    delimiter,
    record_delimiter: lineEnd === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
    info: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE_BYTES,
  });
  const input = createReadStream(file.path, { start: startBytes });
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let headings: string[] | undefined;
  // A record starts where the previous one ended.
  const firstLine = start > 1 ? 2 : 1;
  let line = firstLine;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (headings === undefined) {
        headings = record.map((heading) => heading.trim());
        const double = headings.find((heading, index) => headings?.indexOf(heading) !== index);
        if (double !== undefined) throw new ImportError(`${file.name}: has two columns with the name "${double}"`);
      } else yield { line, row: new Map(headings.map((heading, index) => [heading, record[index] ?? ''])) };
      line = info.lines + firstLine;
    }
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${file.name}:${line}: is not valid CSV: ${error instanceof Error ? error.message : ''}`);
  } finally {
    input.destroy();
    parser.destroy();
  }
}
