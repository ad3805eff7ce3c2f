import type { Context } from 'koa';
import type { JsonValue } from '../domain/text/json.ts';
import { parseKeepingDigits } from '../domain/text/json-digits.ts';
import { isLargeJson, stringifyJson } from '../domain/text/json-text.ts';
import type { SharedParts } from '../http/app.ts';
import { FixedText } from '../http/compression.ts';
import { HttpRequest } from '../http/http-request.ts';
import { type Handling, LARGE_BYTES, readInSteps } from '../http/large-work.ts';
import { RawResponse, type Route } from '../http/route.ts';
import { parseAddress, requireScope, runHandler } from '../http/run-route.ts';
import { validate } from '../http/validate.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';

/** A message's request to an operation. */
export interface OperationInput {
  params?: Record<string, string>;
  query?: Record<string, string | string[]>;
  body?: JsonValue;
  headers?: Record<string, string>;
  /** Identifies a repeated call. */
  hash?: Buffer;
}

/** One message of an authenticated caller. */
export interface McpCall {
  key: AuthenticatedKey;
  requestId: string;
  /**
   * Runs an operation of the API as the caller, like a request to the API.
   * @throws ApiError whatever the operation throws, and `insufficient_scope`
   */
  run(operationId: string, input: OperationInput): Promise<JsonValue>;
}

/** An API request with its own headers instead of those of the enclosing message. */
class OperationRequest extends HttpRequest {
  readonly #headers: Record<string, string>;
  readonly #hash: Buffer;

  constructor(ctx: Context, parsed: ConstructorParameters<typeof HttpRequest>[1], { headers, hash }: OperationInput) {
    super(ctx, parsed);
    this.#headers = headers ?? {};
    this.#hash = hash ?? Buffer.alloc(0);
  }

  override get requestHash(): Buffer {
    return this.#hash;
  }

  override header(name: string): string | undefined {
    return Object.entries(this.#headers).find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];
  }

  override accepts(...types: string[]): string | false {
    return types[0] ?? false;
  }
}

/** @param handling of the message, shared by its operations */
export function createMcpCall(
  ctx: Context,
  {
    db,
    requireAuditRoom,
    routes,
  }: Pick<SharedParts, 'db' | 'requireAuditRoom'> & { routes: ReadonlyMap<string, Route> },
  {
    key,
    requestId,
    gone,
    signal,
    handling,
  }: Pick<McpCall, 'key' | 'requestId'> & {
    gone: () => AbortSignal;
    signal: () => AbortSignal;
    handling: Handling;
  },
): McpCall {
  return {
    key,
    requestId,
    async run(operationId, input) {
      const route = routes.get(operationId);
      if (route === undefined) throw new Error(`There is no operation ${operationId}.`);
      requireScope(key, route);
      const address = parseAddress(route, { params: input.params ?? {}, query: input.query ?? {} });
      const body =
        route.body === undefined || route.body === 'stream'
          ? undefined
          : validate<unknown>(route.body, input.body ?? {});
      const request = new OperationRequest(
        ctx,
        {
          ...address,
          body,
          raw: Buffer.alloc(0),
          db: readInSteps(db.workspace(key.workspaceId, gone), handling),
          key,
          requestId,
          signal,
          handling,
        },
        input,
      );
      const response = await runHandler(route, request, handling, requireAuditRoom);
      await handling.step();
      if (response instanceof FixedText) return JSON.parse(response.text);
      if (response instanceof RawResponse) throw new Error(`${operationId} does not return JSON.`);
      const read = async (): Promise<JsonValue> => parseKeepingDigits(stringifyJson(response));
      return isLargeJson(response, LARGE_BYTES) ? handling.show(read) : read();
    },
  };
}
