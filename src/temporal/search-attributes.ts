import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from './names.ts';
import { isInvalidArgument, isTemporalUnavailable } from './workflows.ts';

const NAMES = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
const WITH_ALL = NAMES.map((name) => `${name} = ''`).join(' and ');
/** A Temporal server caches its attributes for some seconds (`system.namespaceCacheRefreshInterval`, 2 s). */
const KNOWN_WITHIN_MS = 20_000;
const POLL_INTERVAL_MS = 100;
/** Maximum duration of one check. */
const DEADLINE_MS = KNOWN_WITHIN_MS + 10_000;
const GRPC_ALREADY_EXISTS = 6;

/**
 * Registers the project's missing search attributes, and waits until workflows can use them. Temporal Cloud does not let a
 * client register any: use `tcld` there (see docs/operations.md).
 * @returns the names of those that were missing
 */
export async function registerSearchAttributes(client: Client): Promise<string[]> {
  let refusal = await refusalOf(client);
  if (refusal === undefined) return [];
  const { connection, options } = client;
  const { namespace } = options;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = NAMES.filter((name) => !(name in customAttributes));
  if (missing.length > 0) await addKeywords(client, missing);
  const until = Date.now() + KNOWN_WITHIN_MS;
  while (refusal !== undefined) {
    if (Date.now() > until)
      throw new Error('Temporal has the search attributes and still refuses them: each must be of type Keyword.', {
        cause: refusal,
      });
    await delay(POLL_INTERVAL_MS);
    refusal = await refusalOf(client);
  }
  return missing;
}

async function addKeywords({ connection, options: { namespace } }: Client, names: string[]): Promise<void> {
  const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;
  const searchAttributes = Object.fromEntries(names.map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process that started at the same time was first.
    if (!(isGrpcServiceError(error) && Number(error.code) === GRPC_ALREADY_EXISTS)) throw error;
  }
}

/** Temporal rejects a query with an unknown attribute, just like the start of a workflow that has it. */
async function refusalOf({ connection, options: { namespace } }: Client): Promise<unknown> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: WITH_ALL });
    return undefined;
  } catch (error) {
    if (isInvalidArgument(error)) return error;
    throw error;
  }
}

/**
 * A periodic check that they exist: a Temporal server that lost its state has lost them as well, and rejects our workflows
 * without them. If it is not allowed to register them, that is logged once.
 */
export function keepSearchAttributes(client: Client, log: Logger): () => Promise<void> {
  let isKnown = false;
  return async () => {
    try {
      await client.withDeadline(Date.now() + DEADLINE_MS, () => registerSearchAttributes(client));
      isKnown = false;
    } catch (error) {
      if (isKnown || isTemporalUnavailable(error)) return;
      isKnown = true;
      log.warn({ err: error }, 'cannot register the search attributes; see docs/operations.md');
    }
  };
}
