import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from './names.ts';

/**
 * Registers the project's search attributes where they are missing. Temporal Cloud does not let a client do that:
 * register them there with `tcld` (see docs/operations.md).
 */
export async function registerSearchAttributes({ connection, options: { namespace } }: Client): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTES)
    .map(({ name }) => name)
    .filter((name) => !(name in customAttributes));
  if (missing.length > 0)
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
      ),
    });
  return missing;
}
