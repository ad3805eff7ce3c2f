import { Readable } from 'node:stream';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { ApiError } from '../domain/errors.ts';
import { publicId } from '../domain/ids.ts';
import { isLargeJson, stringifyJson } from '../domain/text/json-text.ts';
import type { FairSemaphore } from '../lib/fair-semaphore.ts';
import type { Turns } from '../lib/turns.ts';
import type { Authenticator } from '../services/access/authenticate.ts';
import type { RateLimiter } from '../services/access/rate-limiter.ts';
import { callerOf } from './client-address.ts';
import { compress, FixedText, mayCompress } from './compression.ts';
import { type CorsOrigins, cors } from './cors.ts';
import { credentialOf, refuseOtherOrigins } from './credentials.ts';
import { goneOf, HttpRequest, signalOf } from './http-request.ts';
import {
  announcedBytes,
  hasBody,
  MAX_BODY_BYTES,
  parseJson,
  readBytes,
  readJsonBytes,
  readNoBody,
} from './json-body.ts';
import {
  createHandling,
  createLargeWork,
  type Handling,
  LARGE_BYTES,
  type LargeWork,
  readInSteps,
} from './large-work.ts';
import { type Authenticate, createAuthentication, type RateLimiters } from './middleware/authentication.ts';
import { errorResponses, respondLast } from './middleware/error-responses.ts';
import { type HttpMetrics, requestLog } from './middleware/request-log.ts';
import {
  admitAnyone,
  createTokenCheck,
  type IdentifyByToken,
  limitPublic,
  type TokenLimiters,
  takeTurns,
} from './middleware/token-check.ts';
import { normalizePath, originForm, toRouterPath } from './paths.ts';
import { type ErrorFormat, RawResponse, type Route, scopesOf } from './route.ts';
import { isList, parseAddress, type RequireAuditRoom, requireScope, runHandler, takePart } from './run-route.ts';
import type { AppState } from './state.ts';
import { onlyOnce, validate } from './validate.ts';
import { createWatchedStreams, type WatchedStreams } from './watched-streams.ts';

export interface AppDeps {
  db: Database;
  routes: Route[];
  authenticator: Authenticator;
  /** Per key holder, and per workspace; undefined for no limit. */
  rateLimiters: RateLimiters | undefined;
  /** Failed authentications per address; undefined for no limit. */
  failureLimiter: RateLimiter | undefined;
  /** Requests with tokens, per address and per token; undefined for no limit. */
  tokenLimiters: TokenLimiters | undefined;
  /** Anonymous requests per address; undefined for no limit. */
  anyoneLimiter: RateLimiter | undefined;
  /** Requests for {@link AppDeps.publicRoutes} per address; undefined for no limit. */
  publicLimiter: Pick<RateLimiter, 'take'> | undefined;
  /** Routes outside `/v1` that are exempt from limits per address: health, and routes with their own credentials. */
  unlimitedRoutes: Middleware[];
  /** All other routes outside `/v1`: documentation, the console. */
  publicRoutes: Middleware[];
  metrics: HttpMetrics;
  /** Entry points to the operations other than `/v1`, each at its own path: the MCP server. */
  otherWays: ((parts: SharedParts) => Middleware<AppState>)[];
  /** Traces requests; undefined for no tracing. */
  trace: Middleware<AppState> | undefined;
  requireAuditRoom: RequireAuditRoom;
  trustProxy: boolean;
  /** Origins whose pages can call the API. */
  corsOrigins: CorsOrigins;
  /** Requests in progress, each of which uses a connection, shared by workspaces. Undefined for no limit. */
  inProgress: FairSemaphore | undefined;
  /** Turns of this process. */
  turns: Turns;
  /** Aborted at shutdown: waiting requests get the current state as their response. */
  closing: AbortSignal;
  log: Logger;
}

/** Shared by all entry points to the operations, so that limits apply to them together. */
export type SharedParts = AppDeps & { authenticate: Authenticate; watched: WatchedStreams; work: LargeWork };

/** Maps other paths of an operation to its own. */
function resolveAliases(routes: Route[]): Middleware<AppState> {
  const paths = new Map(
    routes.flatMap(({ method, path, aliases = [] }) =>
      aliases.map((alias) => [`${method.toUpperCase()} ${alias}`, `/v1${path}`] as const),
    ),
  );
  return async (ctx, next) => {
    const path = paths.get(`${ctx.method} ${ctx.path}`);
    if (path !== undefined) ctx.path = path;
    await next();
  };
}

/** Rejects requests that Node.js and Koa do not handle: an invalid target, or HTTP/1.1 without a Host. */
function saneRequest(): Middleware<AppState> {
  return async ({ req }, next) => {
    const target = originForm(req.url ?? '');
    req.url = target ?? '/';
    if (target === undefined) throw new ApiError('invalid_request', 'The request target must be a path.');
    if (req.httpVersion === '1.1' && req.headers.host === undefined)
      throw new ApiError('invalid_request', 'Send the header Host.');
    await next();
  };
}

/** Creates the HTTP application: the middleware around all route handlers. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const app = new Koa<AppState>();
  app.proxy = deps.trustProxy;
  // The proxy appends the address it sees; everything before it comes from the caller.
  app.maxIpsCount = 1;
  app.silent = true;
  app.context.onerror = respondLast;
  const router = new Router<AppState>({ prefix: '/v1', sensitive: true, strict: true });
  const work = createLargeWork(deps.turns);
  const authenticate = createAuthentication({ ...deps, work });
  const shared = { ...deps, authenticate, watched: createWatchedStreams(deps), work };
  const identify = createTokenCheck(shared);
  for (const route of deps.routes)
    router[route.method](toRouterPath(route.path), (ctx) => run(ctx, route, { ...shared, identify }));
  const withoutKey = new Set(deps.routes.filter((route) => route.keyOf ?? route.withoutKey).map(nameOfRoute));
  const byToken = new Set(
    deps.routes.filter(({ workspaceOfToken }) => workspaceOfToken).map(({ path }) => `/v1${path}`),
  );
  const byPassword = new Set(deps.routes.filter(({ basicAuth }) => basicAuth).map(nameOfRoute));
  if (deps.trace !== undefined) app.use(deps.trace);
  app.use(requestLog(deps.log, deps.metrics));
  app.use(errorResponses(errorFormats(router, deps.routes)));
  app.use(saneRequest());
  app.use(resolveAliases(deps.routes));
  app.use(takeTurns(work));
  for (const route of deps.unlimitedRoutes) app.use(route);
  app.use(limitPublic(deps.publicLimiter));
  for (const route of deps.publicRoutes) app.use(route);
  for (const way of deps.otherWays) app.use(way(shared));
  app.use(async (ctx, next) => {
    if (ctx.path !== '/v1' && !ctx.path.startsWith('/v1/'))
      throw new ApiError('not_found', 'Not found: the API is under /v1, its documentation at /docs.');
    ctx.path = normalizePath(ctx.path);
    await next();
  });
  app.use(cors(deps.corsOrigins, byToken));
  app.use(async (ctx, next) => {
    // A sign-in has its key in the body, which its route reads; tokens are not keys, and anonymous routes need none.
    if (!withoutKey.has(`${ctx.method} ${ctx.path}`) && !byToken.has(ctx.path))
      ctx.state.key = await authenticate(ctx, () => credentialOf(ctx, byPassword.has(`${ctx.method} ${ctx.path}`)));
    await next();
  });
  app.use(router.routes());
  app.use((ctx) => {
    const elsewhere = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    if (elsewhere.length === 0) throw new ApiError('not_found', `There is no ${ctx.path} in this API; see /docs.`);
    const allowed = [...new Set(elsewhere)].filter((method) => method !== 'HEAD').join(', ');
    throw new ApiError('invalid_request', `${ctx.method} is not supported here; use ${allowed}.`);
  });
  return app;
}

const nameOfRoute = ({ method, path }: Route) => `${method.toUpperCase()} /v1${path}`;

/** Finds the error format of a path: the method's or, if there is no such operation, the one shared by all others of the path. */
function errorFormats(
  router: Router<AppState>,
  routes: Route[],
): (path: string, method: string) => ErrorFormat | undefined {
  const byPath = Map.groupBy(routes, ({ path }) => `/v1${toRouterPath(path)}`);
  return (path, method) => {
    const matching = router.match(path, '').path.flatMap((layer) => byPath.get(String(layer.path)) ?? []);
    const own = matching.filter((route) => route.method === method.toLowerCase());
    if (own.length > 0) return own.find(({ errorFormat }) => errorFormat !== undefined)?.errorFormat;
    return matching.every(({ errorFormat }) => errorFormat !== undefined) ? matching[0]?.errorFormat : undefined;
  };
}

type RouteContext = Context & { state: AppState; params: Record<string, string> };
type RunDeps = SharedParts & { identify: IdentifyByToken };

/** Parses a request with its route's schemas, runs the handler and sends the result. */
async function run(ctx: RouteContext, route: Route, deps: RunDeps): Promise<void> {
  const { state } = ctx;
  if (route.workspaceOfToken !== undefined) state.key = await deps.identify(ctx, route.workspaceOfToken);
  else if (route.withoutKey) {
    refuseOtherOrigins(ctx);
    state.key = await admitAnyone(ctx, deps);
  } else if (route.keyOf === undefined) requireScope(state.key, route);
  else refuseOtherOrigins(ctx);
  const gone = goneOf(ctx.res);
  const signal = signalOf(gone, deps.closing);
  // There is no workspace yet during sign-in.
  const workspaceId = state.key?.workspaceId;
  const sharer = workspaceId ? publicId('workspace', workspaceId) : callerOf(ctx);
  const handling = createHandling(deps.work, sharer, ctx.res, signal);
  try {
    const request = await requestOf(ctx, route, deps, { gone, signal, handling });
    const response = await runHandler(route, request, handling, deps.requireAuditRoom);
    await respond(ctx, route, response, deps, handling);
  } finally {
    handling.dealtWith();
  }
}

async function requestOf(
  ctx: RouteContext,
  route: Route,
  { db, authenticate, inProgress }: RunDeps,
  { gone, signal, handling }: { gone: () => AbortSignal; signal: () => AbortSignal; handling: Handling },
): Promise<HttpRequest> {
  const { state } = ctx;
  const { keyOf } = route;
  const address = parseAddress(route, { params: ctx.params, query: onlyOnce(ctx.query, route.repeatable) });
  if (keyOf === undefined) takePart(state.key.workspaceId, ctx.res, inProgress);
  const { body, raw } = await readBody(ctx, route, handling);
  if (keyOf !== undefined) state.key = await authenticate(ctx, () => ({ kind: 'key', token: keyOf(body) }));
  const { key, requestId } = state;
  return new HttpRequest(ctx, {
    ...address,
    body,
    raw,
    db:
      route.method === 'get'
        ? readInSteps(db.workspace(key.workspaceId, gone), handling)
        : db.workspace(key.workspaceId, gone),
    key,
    requestId,
    signal,
    handling,
  });
}

/** Sends the handler's result. */
async function respond(
  ctx: RouteContext,
  route: Route,
  response: unknown,
  { watched }: RunDeps,
  handling: Handling,
): Promise<void> {
  ctx.status = route.status ?? 200;
  if (response instanceof FixedText) {
    ctx.type = 'application/json';
    return response.send(ctx);
  }
  if (response instanceof RawResponse) {
    if (response.status !== undefined) ctx.status = response.status;
    ctx.set(response.headers);
    ctx.body = response.body;
    ctx.type = response.contentType;
    if (response.body instanceof Readable) watched.watch(ctx.state.credential, scopesOf(route), response.body);
    // Files are streamed.
    if (isList(route)) handling.keep();
    return;
  }
  // Secrets are shown only in responses to changes, which are never compressed (docs/security.md).
  const encode = mayCompress(ctx) ? (text: string) => compress(ctx, text) : async (text: string) => text;
  const write = () => encode(stringifyJson(response));
  await handling.step();
  const body = isLargeJson(response, LARGE_BYTES) ? await handling.show(write) : await write();
  handling.keep(body.length);
  ctx.type = 'application/json';
  ctx.body = body;
}

async function readBody(ctx: Context, route: Route, handling: Handling): Promise<{ body: unknown; raw: Buffer }> {
  if (route.body === 'stream') return { body: undefined, raw: Buffer.alloc(0) };
  if (route.body === undefined) {
    if (route.method !== 'get') await readNoBody(ctx.req);
    return { body: undefined, raw: Buffer.alloc(0) };
  }
  if (route.binary) {
    await handling.receive(announcedBytes(ctx.req, route.maxBodyBytes));
    const raw = await readBytes(ctx.req, route.maxBodyBytes ?? MAX_BODY_BYTES);
    return { body: raw, raw };
  }
  if (route.bodyOptional && !hasBody(ctx.req)) return { body: validate(route.body, {}), raw: Buffer.alloc(0) };
  await handling.receive(announcedBytes(ctx.req, route.maxBodyBytes));
  const raw = await readJsonBytes(ctx.req, route.maxBodyBytes);
  await handling.begin(raw.length);
  return { body: validate(route.body, await parseJson(raw)), raw };
}
