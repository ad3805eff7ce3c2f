import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from './names.ts';
import { isTemporalAway } from './workflows.ts';

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

/**
 * A look at whether they are there, to be taken now and then: a Temporal that has lost its state has lost them as well, and
 * refuses to start anything of ours without them. Where it is not allowed to register them, that is logged once.
 */
export function keepSearchAttributes(client: Client, log: Logger): () => Promise<void> {
  let isKnown = false;
  return async () => {
    try {
      await registerSearchAttributes(client);
      isKnown = false;
    } catch (error) {
      if (isKnown || isTemporalAway(error)) return;
      isKnown = true;
      log.warn({ err: error }, 'cannot register the search attributes; see docs/operations.md');
    }
  };
}
