import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from './names.ts';
import { isTemporalAway } from './workflows.ts';

const NAMES = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
const WITH_ALL = NAMES.map((name) => `${name} = ''`).join(' and ');
/** What a Temporal server knows of attributes is some seconds old (`system.namespaceCacheRefreshInterval`, 2 s). */
const KNOWN_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 50;
const GRPC_INVALID_ARGUMENT = 3;

/**
 * Registers the project's search attributes where they are missing, and waits until workflows may have them. Temporal Cloud does
 * not let a client register any: do it there with `tcld` (see docs/operations.md).
 * @returns the names of those that were missing
 */
export async function registerSearchAttributes(client: Client): Promise<string[]> {
  if (await areKnown(client)) return [];
  const { connection, options } = client;
  const { namespace } = options;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = NAMES.filter((name) => !(name in customAttributes));
  if (missing.length > 0)
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
      ),
    });
  const until = Date.now() + KNOWN_WITHIN_MS;
  while (!(await areKnown(client))) {
    if (Date.now() > until) throw new Error('Temporal has registered the search attributes, and refuses them still.');
    await delay(LOOK_EVERY_MS);
  }
  return missing;
}

/** Temporal refuses a query with an attribute that it does not know, as it refuses to start a workflow that has it. */
async function areKnown({ connection, options: { namespace } }: Client): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: WITH_ALL });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === GRPC_INVALID_ARGUMENT) return false;
    throw error;
  }
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
