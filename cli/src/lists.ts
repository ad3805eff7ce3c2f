import { type Output, printJson, printLine, safeText } from './context.ts';
import { definitionText } from './definition-file.ts';
import { formatTable } from './table.ts';

/** The service takes at most as many for a page. */
const MAX_PAGE = 1000;

/** Of a page that is read for at most `limit` entries. */
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

/** What a row shows of an entry, by the heads of the columns. */
export type Columns<Item> = Record<string, (item: Item) => string | number | null | undefined>;

/** Prints a list: as JSON, or as a table. */
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

/** Prints a record: as JSON, or as YAML without what is null. */
export async function printRecord(output: Output, record: object, json: boolean | undefined): Promise<void> {
  if (json) printJson(output, record);
  else output.write(await definitionText(record, []));
}

/** Prints a record as JSON, or else a sentence of what has become of it. */
export function printDone(output: Output, record: object, json: boolean | undefined, sentence: string): void {
  if (json) printJson(output, record);
  else printLine(output, safeText(sentence));
}
