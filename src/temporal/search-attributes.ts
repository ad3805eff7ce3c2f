import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from './names.ts';
import { isInvalidArgument, isTemporalUnavailable } from './workflows.ts';

const NAMES = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
const WITH_ALL = NAMES.map((name) => `${name} = ''`).join(' and ');
/** What a Temporal server knows of attributes is some seconds old (`system.namespaceCacheRefreshInterval`, 2 s). */
const KNOWN_WITHIN_MS = 20_000;
const POLL_INTERVAL_MS = 100;
/** How long one look may take in all. */
const DEADLINE_MS = KNOWN_WITHIN_MS + 10_000;
const GRPC_ALREADY_EXISTS = 6;

/**
 * Registers the project's search attributes where they are missing, and waits until workflows may have them. Temporal Cloud does
 * not let a client register any: do it there with `tcld` (see docs/operations.md).
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
    // Another process, which started at the same time, was first.
    if (!(isGrpcServiceError(error) && Number(error.code) === GRPC_ALREADY_EXISTS)) throw error;
  }
}

/** Temporal refuses a query with an attribute that it does not know, as it refuses to start a workflow that has it. */
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
 * A look at whether they are there, to be taken now and then: a Temporal that has lost its state has lost them as well, and
 * refuses to start anything of ours without them. Where it is not allowed to register them, that is logged once.
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
