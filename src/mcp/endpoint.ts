import { Readable } from 'node:stream';
import {
  createMcpHandler,
  isJsonContentType,
  localhostAllowedHostnames,
  validateHostHeader,
} from '@modelcontextprotocol/server';
import ipaddr from 'ipaddr.js';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { ApiError, type ErrorCode } from '../domain/errors.ts';
import { publicId } from '../domain/ids.ts';
import { SCOPES } from '../domain/scopes.ts';
import { isObject, type JsonValue } from '../domain/text/json.ts';
import type { SharedParts } from '../http/app.ts';
import { cors } from '../http/cors.ts';
import { bearerIn, originOf } from '../http/credentials.ts';
import { goneOf, signalOf } from '../http/http-request.ts';
import { announcedBytes, parseJson, readJsonBytes } from '../http/json-body.ts';
import { createHandling, type Handling } from '../http/large-work.ts';
import { toApiError } from '../http/middleware/error-responses.ts';
import { takePart } from '../http/run-route.ts';
import type { AppState } from '../http/state.ts';
import { STATUS_OF_CODE } from '../http/status.ts';
import { tagName, tagsIn } from '../http/tags.ts';
import { createMcpCall } from './mcp-call.ts';
import { createMcpServer, type McpParts } from './mcp-server.ts';
import { createResources } from './resources.ts';
import { bindTools } from './tools/call-tool.ts';
import type { ToolSpec } from './tools/tool.ts';

/** Maximum number of cached lists, one for each set of scopes and headers. */
const MAX_LISTS = 50;
/** Longer messages, and so their responses, contain something unique. */
const MAX_MESSAGE_LENGTH = 2_000;
/** Placeholder for the message id in a cached response. */
const ID = 'the id of the message';

interface Kept {
  status: number;
  headers: [string, string][];
  /** The parts before and after the id. */
  around: Buffer[];
}

/** Caches responses to `tools/list`. They are long and, except for the id, the same for all callers with the same tools. */
class KeptLists {
  readonly #lists = new LRUCache<string, Kept>({ max: MAX_LISTS });

  /**
   * @param callers what else the response depends on: scopes and headers
   * @param ask writes the response to a message
   * @returns undefined if the message does not request such a list
   */
  async respond(
    message: JsonValue,
    callers: readonly unknown[],
    ask: (message: JsonValue) => Promise<Response>,
  ): Promise<(Pick<Kept, 'status' | 'headers'> & { body: Buffer }) | undefined> {
    if (!isObject(message) || message['method'] !== 'tools/list') return undefined;
    const { id, ...rest } = message;
    const name = JSON.stringify([rest, ...callers]);
    if ((typeof id !== 'string' && typeof id !== 'number') || name.length > MAX_MESSAGE_LENGTH) return undefined;
    const kept = this.#lists.get(name) ?? (await write({ ...rest, id: ID }, ask));
    // Failures are not cached.
    if (kept.status === 200) this.#lists.set(name, kept);
    const [before = Buffer.alloc(0), ...after] = kept.around;
    return { ...kept, body: Buffer.concat([before, Buffer.from(JSON.stringify(id)), ...after]) };
  }
}

async function write(message: JsonValue, ask: (message: JsonValue) => Promise<Response>): Promise<Kept> {
  const response = await ask(message);
  const around = (await response.text()).split(JSON.stringify(ID)).map((part) => Buffer.from(part));
  return { status: response.status, headers: [...response.headers], around };
}

const PATH = '/mcp';

/** JSON-RPC error codes. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const SERVER_ERROR = -32_000;

/** The protocol uses more HTTP statuses than the API. */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  payload_too_large: 413,
  insufficient_scope: 403,
  temporarily_unavailable: 503,
};

/** A message rejected before it reaches a tool. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly headers: Record<string, string>;
  readonly data: object | undefined;
  /** The id of the message, if it was read. */
  readonly id: string | number | null;

  constructor(
    status: number,
    code: number,
    message: string,
    headers: Record<string, string> = {},
    data?: object,
    id?: JsonValue,
  ) {
    super(message);
    this.id = typeof id === 'string' || typeof id === 'number' ? id : null;
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.data = data;
  }
}

export interface McpOptions {
  version: string;
  /** The folder of the guides. */
  docs: string;
  tools: readonly ToolSpec[];
  /** The host on which the service listens. On the loopback interface, only requests for its names are served. */
  host: string;
  /** `WWW-Authenticate` for rejected callers. @param error of RFC 6750, if a credential was sent */
  challenge: (error?: string) => string;
}

/**
 * `/mcp`: the operations of the API as tools of the Model Context Protocol, over streamable HTTP without sessions. `?tools=` chooses
 * those of some tags.
 */
export function mcpEndpoint(
  parts: SharedParts,
  { version, docs, tools, host, challenge }: McpOptions,
): Middleware<AppState> {
  const routes = new Map(parts.routes.map((route) => [route.operationId, route]));
  const server: McpParts = {
    version,
    tools: bindTools(tools, routes),
    resources: createResources(docs),
    logFault(error, requestId) {
      if (STATUS_OF_CODE[error.code] === 500)
        parts.log.error({ request_id: requestId, err: error.cause ?? error }, error.message);
    },
  };
  const toolsets = new Set([...server.tools.values()].map(({ route }) => tagName(route)));
  const isLoopback = !parts.trustProxy && (host === 'localhost' || rangeOf(host) === 'loopback');
  const answerPages = cors(parts.corsOrigins);
  const lists = new KeptLists();

  /** Rejects pages that got here through their own host name (DNS rebinding) or are not allowed. */
  function refuseOthers(ctx: Context): void {
    const asked = validateHostHeader(ctx.get('Host'), localhostAllowedHostnames());
    if (isLoopback && !asked.ok) throw new Refusal(403, SERVER_ERROR, 'This host name does not belong to the service.');
    const origin = ctx.get('Origin');
    if (origin !== '' && !parts.corsOrigins.includes(origin) && originOf(ctx) !== 'own')
      throw new Refusal(403, SERVER_ERROR, 'This origin is not allowed to call the service: see CORS_ORIGINS.');
  }

  async function serve(ctx: Context & { state: AppState }): Promise<void> {
    refuseOthers(ctx);
    if (ctx.method !== 'POST')
      throw new Refusal(405, SERVER_ERROR, 'Send messages by POST: sessions and separate streams are not supported.', {
        Allow: 'POST',
      });
    const key = await parts.authenticate(ctx, () => bearerIn(ctx));
    ctx.state.key = key;
    takePart(key.workspaceId, ctx.res, parts.inProgress);
    const { requestId } = ctx.state;
    const chosen = tagsIn('tools', ctx.query['tools'], toolsets);
    const tools =
      chosen === undefined
        ? server.tools
        : new Map([...server.tools].filter(([, { route }]) => chosen.has(tagName(route))));
    const gone = goneOf(ctx.res);
    const signal = signalOf(gone, parts.closing);
    const handling = createHandling(parts.work, publicId('workspace', key.workspaceId), ctx.res, signal);
    try {
      const message = await readMessage(ctx, handling);
      const call = createMcpCall(ctx, { ...parts, routes }, { key, requestId, gone, signal, handling });
      const headers = headersOf(ctx);
      const ask = (asked: JsonValue) => {
        const request = new Request(`http://localhost${PATH}`, {
          method: 'POST',
          headers,
          body: '{}',
          signal: signal(),
        });
        return createMcpHandler(() => createMcpServer({ ...server, tools }, call)).fetch(request, {
          parsedBody: asked,
        });
      };
      const list = await lists.respond(message, [key.scopes, [...(chosen ?? [])].toSorted(), [...headers]], ask);
      if (list === undefined) await send(ctx, await ask(message));
      else {
        ctx.status = list.status;
        for (const [name, value] of list.headers) ctx.set(name, value);
        ctx.body = list.body;
      }
    } finally {
      handling.dealtWith();
      handling.keep();
    }
  }

  async function send(ctx: Context & { state: AppState }, response: Response): Promise<void> {
    ctx.status = response.status;
    for (const [name, value] of response.headers) ctx.set(name, value);
    if (response.body === null) ctx.body = null;
    else if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) ctx.body = await response.text();
    else {
      const stream = Readable.fromWeb(response.body);
      parts.watched.watch(ctx.state.credential, SCOPES, stream);
      ctx.body = stream;
    }
    ctx.status = response.status;
  }

  return async (ctx, next) => {
    if (ctx.path !== PATH) return next();
    // For the request metrics by route.
    ctx['_matchedRoute'] = PATH;
    await answerPages(ctx, async () => {
      try {
        await serve(ctx);
      } catch (thrown) {
        refuse(ctx, thrown, { ...server, challenge });
      }
    });
  };
}

const rangeOf = (host: string) => (ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined);

/** The request headers for the SDK. */
function headersOf(ctx: Context): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(ctx.headers))
    if (/^(accept|content-type|mcp-[\w-]+|last-event-id)$/.test(name)) headers.set(name, String(value));
  return headers;
}

/** Reads one message; the supported revisions have no batches. */
async function readMessage(ctx: Context, handling: Handling): Promise<JsonValue> {
  if (!isJsonContentType(ctx.get('Content-Type')))
    throw new Refusal(415, SERVER_ERROR, 'Send the message as JSON, with "Content-Type: application/json".');
  await handling.receive(announcedBytes(ctx.req));
  const raw = await readJsonBytes(ctx.req);
  await handling.begin(raw.length);
  const message = await parseJson(raw).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    throw new Refusal(400, PARSE_ERROR, error.message);
  });
  if (Array.isArray(message)) throw new Refusal(400, INVALID_REQUEST, 'Send one message in each request.');
  if (typeof message !== 'object' || message === null) return message;
  // The SDK supports subscribers, but nothing here sends change notifications.
  if (message['method'] === 'subscriptions/listen')
    throw new Refusal(404, METHOD_NOT_FOUND, 'Subscriptions are not supported.', {}, undefined, message['id']);
  return message;
}

type RefusalParts = Pick<McpParts, 'logFault'> & Pick<McpOptions, 'challenge'>;

function refuse(ctx: Context & { state: AppState }, thrown: unknown, parts: RefusalParts): void {
  const refusal = thrown instanceof Refusal ? thrown : refusalOf(toApiError(thrown), ctx, parts);
  ctx.status = refusal.status;
  ctx.set(refusal.headers);
  const { id, code, message, data } = refusal;
  ctx.body = { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

function refusalOf(
  error: ApiError,
  ctx: Context & { state: AppState },
  { logFault, challenge }: RefusalParts,
): Refusal {
  logFault(error, ctx.state.requestId);
  const isShown = ctx.get('Authorization') !== '';
  const { code, message, details, retryAfterSeconds } = error;
  const headers = {
    ...(code === 'unauthorized' && { 'WWW-Authenticate': challenge(isShown ? 'invalid_token' : undefined) }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  };
  const data = { code, ...(details !== undefined && { details }) };
  return new Refusal(STATUSES[code] ?? STATUS_OF_CODE[code], SERVER_ERROR, message, headers, data);
}
