import type { Connection } from '@temporalio/client';

/** Types of search attributes and their numbers in Temporal's API (`IndexedValueType`). */
const TYPE_NUMBERS = { Text: 1, Keyword: 2, Int: 3, Double: 4, Bool: 5, Datetime: 6, KeywordList: 7 } as const;

/** The type of a search attribute: https://docs.temporal.io/search-attribute#supported-types */
export type SearchAttributeTypeName = keyof typeof TYPE_NUMBERS;

/**
 * Registers the search attributes that the namespace lacks. The development server's own option for it only works
 * while its file is new, so an upgrade that brings another attribute needs this.
 *
 * @throws when one exists with another type, or the server refuses.
 */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: Record<string, SearchAttributeTypeName>,
): Promise<void> {
  if (Object.keys(wanted).length === 0) return;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing: Record<string, number> = {};
  for (const [name, type] of Object.entries(wanted)) {
    const present = customAttributes?.[name];
    if (present === undefined) missing[name] = TYPE_NUMBERS[type];
    else if (present !== TYPE_NUMBERS[type]) {
      const other = Object.entries(TYPE_NUMBERS).find(([, number]) => number === present)?.[0] ?? 'another type';
      throw new Error(`The search attribute ${name} of namespace ${namespace} is ${other}, and ${type} is needed.`);
    }
  }
  if (Object.keys(missing).length === 0) return;
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing });
}
