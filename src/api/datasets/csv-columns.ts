import { ApiError } from '../../domain/errors.ts';
import { type Column, columnsOf } from '../../domain/evaluations/csv-columns.ts';
import { isInsaneText } from '../../domain/text/json-faults.ts';

export const MAX_COLUMNS = 1000;

function problemOf(heading: string | null, { name, part }: Column): string | undefined {
  if (heading === null || heading.trim() === '') return 'has no name: name every column';
  if (name === '' && part === 'metadata') return 'has no name after the dot';
  if (name === '__proto__' || isInsaneText(name)) return 'has a name that is not allowed';
  return undefined;
}

/** @throws ApiError `invalid_request` naming the invalid column */
export function parseColumns(line: number, headings: (string | null)[]): Column[] {
  const fault = (column: number, message: string) => {
    const path = `lines.${line}.${column + 1}`;
    return new ApiError('invalid_request', `Line ${line}: column ${column + 1} ${message}`, {
      details: [{ path, message }],
    });
  };
  if (headings.length > MAX_COLUMNS) throw fault(MAX_COLUMNS, `exceeds the limit of ${MAX_COLUMNS} columns`);
  const columns = columnsOf(headings.map((heading) => heading ?? ''));
  const seen = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const heading = headings[index] ?? null;
    const problem = problemOf(heading, column);
    if (problem !== undefined) throw fault(index, problem);
    const identity = `${column.part}.${column.name}`;
    const other = seen.get(identity);
    if (other !== undefined)
      throw fault(index, `has the same name as column ${other + 1}: "${heading?.slice(0, 100).toWellFormed()}"`);
    seen.set(identity, index);
  }
  return columns;
}
