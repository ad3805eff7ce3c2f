import { csvFormOf } from '../../../../src/domain/text/csv-form.ts';
import { fromCsvText } from '../../../../src/domain/text/csv-text.ts';
import { plural } from '../../format.ts';

/** Pasted text, or the head of a file, in columns. */
export interface Table {
  /** Column names in order of appearance. In JSON, fields inside `variables` and `metadata` have dotted names. */
  columns: string[];
  /** Undefined for a missing value. */
  rows: unknown[][];
  /** The column delimiter of a text; undefined for JSON. */
  delimiter?: string;
  /** Whether each row already is an example in API format, so that no mapping is needed. */
  isExamples: boolean;
}

/** @throws Error that says which line to fix, and how */
export function readTable(text: string, format: 'csv' | 'json'): Table {
  return format === 'csv' ? readCsv(text) : readJson(text);
}

/** Detects the format from the start of a text. */
export const formatOf = (text: string): 'csv' | 'json' => (/^\uFEFF?\s*[[{]/.test(text) ? 'json' : 'csv');

/** The delimiter is detected from this much of a text. */
const HEAD_LENGTH = 64 * 1024;

/** Parses CSV cells like the API. Undefined is an empty unquoted cell. */
function readCells(text: string): { delimiter: string; rows: (string | undefined)[][] } {
  const { delimiter, lineEnd, start } = csvFormOf(text.slice(0, HEAD_LENGTH));
  const rows: (string | undefined)[][] = [];
  let row: (string | undefined)[] = [];
  let at = start;
  let line = start > 1 ? 2 : 1;
  const endRow = () => {
    if (row.some((cell) => cell !== undefined)) rows.push(row);
    row = [];
  };
  while (at < text.length) {
    if (text[at] === '"') {
      let cell = '';
      const begun = line;
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error(`Line ${begun} opens a quote that is not closed: close it.`);
        if (text[at] === '"') {
          if (text[at + 1] !== '"') break;
          at += 1;
        }
        if (text[at] === lineEnd) line += 1;
        cell += text[at];
      }
      at += 1;
      row.push(fromCsvText(cell));
    } else {
      let end = at;
      while (end < text.length && text[end] !== delimiter && text[end] !== lineEnd) end += 1;
      const cell = text.slice(at, end).replace(/\r$/, '');
      row.push(cell === '' ? undefined : fromCsvText(cell));
      at = end;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    if (text[at] === delimiter) {
      at += 1;
      // The last cell of the text is empty.
      if (at === text.length) row.push(undefined);
    } else if (text[at] === lineEnd) {
      at += 1;
      line += 1;
      endRow();
    } else if (at < text.length) {
      throw new Error(`Line ${line} has text after a closing quote: write a quote inside of a quoted cell twice.`);
    }
  }
  endRow();
  return { delimiter, rows };
}

function readCsv(text: string): Table {
  const { delimiter, rows: all } = readCells(text);
  const [heads = [], ...rows] = all;
  const columns = heads.map((head, index) => {
    if (head === undefined || head.trim() === '') throw new Error(`Column ${index + 1} has no name: add one.`);
    return head.trim();
  });
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice !== undefined) throw new Error(`Two columns are called “${twice}”: rename one of them.`);
  const wrong = rows.findIndex((row) => row.length > columns.length);
  if (wrong !== -1)
    throw new Error(
      `Row ${wrong + 1} has ${plural(rows[wrong]?.length ?? 0, 'cell', 'cells')} where the first line has ${columns.length}: quote cells with the delimiter in them.`,
    );
  return { columns, rows: rows.map((row) => columns.map((_, index) => row[index])), delimiter, isExamples: false };
}

type JsonObject = Record<string, unknown>;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readObjects(text: string): unknown[] {
  if (/^\uFEFF?\s*\[/.test(text)) {
    const list: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (Array.isArray(list)) return list;
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line.replace(/^\uFEFF/, ''))];
    } catch {
      throw new Error(`Line ${index + 1} is not valid JSON: write one object per line.`);
    }
  });
}

const INSIDE = ['variables', 'metadata'] as const;
const OWN = ['id', 'variables', 'expected', 'metadata'];

function readJson(text: string): Table {
  const objects = readObjects(text);
  const wrong = objects.findIndex((each) => !isObject(each));
  if (wrong !== -1) throw new Error(`Entry ${wrong + 1} is not an object: write {"name": "value"}.`);
  const flat = objects.filter(isObject).map((object) => {
    const entries = new Map(Object.entries(object));
    for (const name of INSIDE) {
      const inner = entries.get(name);
      if (!isObject(inner)) continue;
      entries.delete(name);
      for (const [key, value] of Object.entries(inner)) entries.set(`${name}.${key}`, value);
    }
    return entries;
  });
  const columns = [...new Set(flat.flatMap((entries) => [...entries.keys()]))];
  return {
    columns,
    rows: flat.map((entries) => columns.map((column) => entries.get(column))),
    isExamples: objects.every(
      (each) => isObject(each) && isObject(each['variables']) && Object.keys(each).every((key) => OWN.includes(key)),
    ),
  };
}
