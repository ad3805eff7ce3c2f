import { type Output, printJson, printLine, safeText } from './context.ts';
import { definitionText } from './definition-file.ts';
import { formatTable } from './table.ts';

/** The maximum page size of the service. */
const MAX_PAGE = 1000;

/** The page size for reading at most `limit` entries. */
export const pageSize = (limit: number): number => Math.max(1, Math.min(limit, MAX_PAGE));

/** The first entries of a list. */
export async function take<Item>(items: AsyncIterable<Item>, limit: number): Promise<Item[]> {
  const taken: Item[] = [];
  if (limit === 0) return taken;
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= limit) break;
  }
  return taken;
}

/** The cells of an entry, by column heading. */
export type Columns<Item> = Record<string, (item: Item) => string | number | null | undefined>;

/** Prints a list as JSON or as a table. */
export function printList<Item>(
  output: Output,
  items: readonly Item[],
  columns: Columns<Item>,
  json: boolean | undefined,
): void {
  if (json) printJson(output, items);
  else {
    const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)));
    printLine(output, formatTable(Object.keys(columns), rows));
  }
}

/** Prints a record as JSON, or as YAML without null fields. */
export async function printRecord(output: Output, record: object, json: boolean | undefined): Promise<void> {
  if (json) printJson(output, record);
  else output.write(await definitionText(record, []));
}

/** Prints a record as JSON, or a sentence about what happened to it. */
export function printDone(output: Output, record: object, json: boolean | undefined, sentence: string): void {
  if (json) printJson(output, record);
  else printLine(output, safeText(sentence));
}
