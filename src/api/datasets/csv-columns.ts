import { ApiError } from '../../domain/errors.ts';
import { toCsvText } from '../../domain/text/csv-text.ts';
import { isInsaneText } from '../../domain/text/json-faults.ts';

export const MAX_COLUMNS = 1000;
const VARIABLE = 'variables.';
const METADATA = 'metadata.';

/** What a column of a CSV file holds. */
export interface Column {
  part: 'id' | 'expected' | 'variables' | 'metadata';
  /** Of the variable or the entry of the metadata. */
  name: string;
}

/** `id`, `expected`, `metadata.x`; `x` and `variables.x` are the variable x. */
function parseHeading(heading: string): Column {
  if (heading === 'id' || heading === 'expected') return { part: heading, name: '' };
  if (heading.startsWith(METADATA)) return { part: 'metadata', name: heading.slice(METADATA.length) };
  if (heading.startsWith(VARIABLE)) return { part: 'variables', name: heading.slice(VARIABLE.length) };
  return { part: 'variables', name: heading };
}

/** The heading that {@link parseColumns} understands as this column. */
export function headingOf({ part, name }: Column): string {
  if (part === 'id' || part === 'expected') return part;
  if (part === 'metadata') return METADATA + name;
  const plain = parseHeading(name);
  return plain.part === 'variables' &&
    plain.name === name &&
    name.trim() === name &&
    toCsvText(name) === name &&
    name !== ''
    ? name
    : VARIABLE + name;
}

function problemOf(heading: string | null, { name, part }: Column): string | undefined {
  if (heading === null || heading.trim() === '') return 'has no name: give every column one';
  if (heading.trim() !== heading && !heading.startsWith(VARIABLE) && !heading.startsWith(METADATA))
    return 'has spaces around its name';
  if (name === '' && part === 'metadata') return 'has no name behind the dot';
  if (name === '__proto__' || isInsaneText(name)) return 'has a name that is not allowed';
  return undefined;
}

/** @throws ApiError `invalid_request` naming the column at fault */
export function parseColumns(line: number, headings: (string | null)[]): Column[] {
  const fault = (column: number, message: string) => {
    const path = `lines.${line}.${column + 1}`;
    return new ApiError('invalid_request', `Line ${line}: column ${column + 1} ${message}`, {
      details: [{ path, message }],
    });
  };
  if (headings.length > MAX_COLUMNS) throw fault(MAX_COLUMNS, `is one too many: at most ${MAX_COLUMNS} columns`);
  const seen = new Map<string, number>();
  return headings.map((heading, index) => {
    const column = parseHeading(heading ?? '');
    const problem = problemOf(heading, column);
    if (problem !== undefined) throw fault(index, problem);
    const identity = `${column.part}.${column.name}`;
    const other = seen.get(identity);
    if (other !== undefined)
      throw fault(index, `says the same as column ${other + 1}: "${heading?.slice(0, 100).toWellFormed()}"`);
    seen.set(identity, index);
    return column;
  });
}
