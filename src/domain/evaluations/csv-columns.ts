import { toCsvText } from '../text/csv-text.ts';

const VARIABLE = 'variables.';
const METADATA = 'metadata.';
const OWN = ['id', 'expected'] as const;

/** The meaning of a column of a CSV file of examples. */
export interface Column {
  part: 'id' | 'expected' | 'variables' | 'metadata';
  /** The name of the variable or the metadata entry. */
  name: string;
}

/** `id`, `expected`, `metadata.x`; `x` and `variables.x` are the variable x. */
function columnOf(heading: string): Column {
  // An export writes names with leading or trailing spaces after a prefix.
  const text = heading.startsWith(VARIABLE) || heading.startsWith(METADATA) ? heading : heading.trim();
  const own = OWN.find((part) => part === text.toLowerCase());
  if (own !== undefined) return { part: own, name: '' };
  if (text.startsWith(METADATA)) return { part: 'metadata', name: text.slice(METADATA.length) };
  if (text.startsWith(VARIABLE)) return { part: 'variables', name: text.slice(VARIABLE.length) };
  return { part: 'variables', name: text };
}

/**
 * The columns of a file. Spaces around headings are ignored, and so is the case of `id` and `expected`: of several such columns,
 * the one written exactly like this is used, and the others are variables.
 */
export function columnsOf(headings: readonly string[]): Column[] {
  const columns = headings.map(columnOf);
  return columns.map((column, index) => {
    if (column.part !== 'id' && column.part !== 'expected') return column;
    const name = headings[index]?.trim() ?? '';
    const isTaken = columns.some(
      ({ part }, at) => part === column.part && at !== index && headings[at]?.trim() === part,
    );
    return name !== column.part && isTaken ? { part: 'variables', name } : column;
  });
}

/** The heading that {@link columnsOf} recognizes as this column, whatever other columns there are. */
export function headingOf({ part, name }: Column): string {
  if (part === 'id' || part === 'expected') return part;
  if (part === 'metadata') return METADATA + name;
  const plain = columnOf(name);
  const isPlain = plain.part === 'variables' && plain.name === name && toCsvText(name) === name && name !== '';
  return isPlain ? name : VARIABLE + name;
}
