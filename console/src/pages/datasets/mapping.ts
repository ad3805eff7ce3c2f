import type { ExampleInput } from './examples.ts';
import type { Table } from './read-table.ts';

/** The role of a column in the examples. */
export type Part = 'variable' | 'expected' | 'id' | 'metadata' | 'nothing';

export const PARTS: { value: Part; label: string }[] = [
  { value: 'variable', label: 'Variable' },
  { value: 'expected', label: 'Expected output' },
  { value: 'id', label: 'Id' },
  { value: 'metadata', label: 'Metadata' },
  { value: 'nothing', label: 'Leave out' },
];

/** One role per column. */
export type Mapping = Part[];

/** Usual names of such columns in other products. */
const EXPECTED = /^(expected|expected_output|output|answer|ideal|target|reference|ground_truth|label)$/i;

function partOf(column: string): Part {
  if (column.startsWith('metadata.')) return 'metadata';
  if (column.startsWith('variables.')) return 'variable';
  if (/^(id|key)$/i.test(column)) return 'id';
  return EXPECTED.test(column) ? 'expected' : 'variable';
}

/** At most one column is the expected value, and one the id: the first match. */
export function guessMapping(columns: readonly string[]): Mapping {
  const seen = new Set<Part>();
  return columns.map((column) => {
    const part = partOf(column);
    const isTaken = (part === 'expected' || part === 'id') && seen.has(part);
    seen.add(part);
    return isTaken ? 'variable' : part;
  });
}

/** @returns the mapping with one column changed; a previous column in a unique role becomes a variable */
export const withPart = (mapping: Mapping, at: number, part: Part): Mapping =>
  mapping.map((each, index) => {
    if (index === at) return part;
    return each === part && (part === 'expected' || part === 'id') ? 'variable' : each;
  });

/** The name of a variable or metadata entry: templates accept letters, digits and underscores. */
export function nameOf(column: string, part: Part): string {
  const name = column.replace(/^(variables|metadata)\./, '');
  if (part !== 'variable') return name;
  const plain = name.replace(/\W+/g, '_');
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** @throws Error if two columns would be the same variable */
export function toExamples({ columns, rows }: Table, mapping: Mapping, isText: boolean): ExampleInput[] {
  const names = columns.map((column, index) => nameOf(column, mapping[index] ?? 'nothing'));
  for (const [index, name] of names.entries()) {
    const other = names.findIndex((each, at) => each === name && mapping[at] === mapping[index]);
    if (other !== index && (mapping[index] === 'variable' || mapping[index] === 'metadata'))
      throw new Error(`“${columns[other]}” and “${columns[index]}” would both be “${name}”: omit one of them.`);
  }
  return rows.map((row) => {
    const variables: Record<string, unknown> = {};
    const metadata: Record<string, unknown> = {};
    const example: Record<string, unknown> = {};
    for (const [index, value] of row.entries()) {
      const name = names[index] ?? '';
      const part = mapping[index];
      // In CSV, a variable has a value on every line because the template needs it.
      if (part === 'variable' && (value !== undefined || isText)) variables[name] = value ?? '';
      if (value === undefined) continue;
      if (part === 'metadata') metadata[name] = value;
      if (part === 'expected') example['expected'] = value;
      if (part === 'id') example['id'] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    const { id, ...rest } = example;
    return {
      ...(id !== undefined && { id }),
      variables,
      ...rest,
      ...(Object.keys(metadata).length > 0 && { metadata }),
    } as ExampleInput;
  });
}
