import { Readable } from 'node:stream';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Database, Query } from '../db/database.ts';
import { MAX_PAGE_BYTES } from '../db/read-page.ts';
import { ApiError, RETRY_AFTER_SECONDS } from '../domain/errors.ts';
import { allows } from '../domain/scopes.ts';
import { isLargeJson, stringifyJson } from '../domain/text/json-text.ts';
import type { FairSemaphore } from '../lib/fair-semaphore.ts';
import type { AuthenticatedKey, Authenticator } from '../services/access/authenticate.ts';
import type { RateLimiter } from '../services/access/rate-limiter.ts';
import { actAs } from '../services/audit/acting.ts';
import { compress, mayCompress } from './compression.ts';
import { type CorsOrigins, cors } from './cors.ts';
import { credentialOf, refuseOtherOrigins } from './credentials.ts';
import { HttpRequest, signalOf } from './http-request.ts';
import { announcedBytes, hasBody, parseJson, readJsonBytes, readNoBody } from './json-body.ts';
import { createHandling, createLargeWork, type Handling, LARGE_BYTES, type LargeWork } from './large-work.ts';
import { type Authenticate, createAuthentication } from './middleware/authentication.ts';
import { errorResponses, respondLast } from './middleware/error-responses.ts';
import { type HttpMetrics, requestLog } from './middleware/request-log.ts';
import { createTokenCheck, type IdentifyByToken, type TokenLimiters } from './middleware/token-check.ts';
import { normalizePath, originForm, toRouterPath } from './paths.ts';
import { type ErrorFormat, RawResponse, type Route, scopesOf } from './route.ts';
import type { AppState } from './state.ts';
import { onlyOnce, validate } from './validate.ts';
import { createWatchedStreams, type WatchedStreams } from './watched-streams.ts';

export interface AppDeps {
  db: Database;
  routes: Route[];
  authenticator: Authenticator;
  /** Per key; undefined: no limit. */
  rateLimiter: RateLimiter | undefined;
  /** Failed authentications per address; undefined: no limit. */
  failureLimiter: RateLimiter | undefined;
  /** Requests by tokens, per address and per token; undefined: no limit. */
  tokenLimiters: TokenLimiters | undefined;
  /** Routes outside `/v1`: health, documentation. */
  publicRoutes: Middleware[];
  metrics: HttpMetrics;
  /** Traces requests; undefined: nothing is traced. */
  trace: Middleware<AppState> | undefined;
  /** Refuses what would add to a full audit log. @throws ApiError `quota_exceeded` */
  requireAuditRoom: (query: Query, isAdmin: boolean) => Promise<void>;
  trustProxy: boolean;
  /** Origins whose pages may call the API. */
  corsOrigins: CorsOrigins;
  /** Requests in progress, each of which has a connection: shared by workspaces. Undefined: no limit. */
  inProgress: FairSemaphore | undefined;
  /** Aborted at shutdown: requests that wait are responded to with the current state. */
  closing: AbortSignal;
  log: Logger;
}

/** A query of a route that has none: unknown parameters are refused everywhere. */
const NoQuery = z.strictObject({});

/** Refuses requests that Node.js and Koa do not handle: a target that is no path, or HTTP/1.1 without a Host. */
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

/** The HTTP application: what all routes have in common, before and after their handlers. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const app = new Koa<AppState>();
  app.proxy = deps.trustProxy;
  // The proxy adds the address it sees at the end; what comes before was written by the caller.
  app.maxIpsCount = 1;
  app.silent = true;
  app.context.onerror = respondLast;
  const router = new Router<AppState>({ prefix: '/v1', sensitive: true, strict: true });
  const authenticate = createAuthentication(deps);
  const watched = createWatchedStreams(deps);
  const work = createLargeWork();
  const identify = createTokenCheck(deps);
  for (const route of deps.routes)
    router[route.method](toRouterPath(route.path), (ctx) =>
      run(ctx, route, { ...deps, authenticate, identify, watched, work }),
    );
  const withoutKey = new Set(
    deps.routes.filter(({ keyOf }) => keyOf).map(({ method, path }) => `${method.toUpperCase()} /v1${path}`),
  );
  const byToken = new Set(
    deps.routes.filter(({ workspaceOfToken }) => workspaceOfToken).map(({ path }) => `/v1${path}`),
  );
  if (deps.trace !== undefined) app.use(deps.trace);
  app.use(requestLog(deps.log, deps.metrics));
  app.use(errorResponses(errorFormats(router, deps.routes)));
  app.use(saneRequest());
  for (const route of deps.publicRoutes) app.use(route);
  app.use(async (ctx, next) => {
    if (ctx.path !== '/v1' && !ctx.path.startsWith('/v1/'))
      throw new ApiError('not_found', 'There is nothing here: the API is under /v1, its documentation at /docs.');
    ctx.path = normalizePath(ctx.path);
    await next();
  });
  app.use(cors(deps.corsOrigins, byToken));
  app.use(async (ctx, next) => {
    // A sign-in has its key in the body, which its route reads; a token is no key.
    if (!withoutKey.has(`${ctx.method} ${ctx.path}`) && !byToken.has(ctx.path))
      ctx.state.key = await authenticate(ctx, () => credentialOf(ctx));
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

/** Finds the format for errors of a path, whatever the method: also of those that no handler has seen. */
function errorFormats(router: Router<AppState>, routes: Route[]): (path: string) => ErrorFormat | undefined {
  const formats = new Map<unknown, ErrorFormat>();
  for (const { path, errorFormat } of routes)
    if (errorFormat !== undefined) formats.set(`/v1${toRouterPath(path)}`, errorFormat);
  return (path) =>
    router
      .match(path, '')
      .path.map((layer) => formats.get(layer.path))
      .find((format) => format !== undefined);
}

type RouteContext = Context & { state: AppState; params: Record<string, string> };
type RunDeps = AppDeps & {
  authenticate: Authenticate;
  identify: IdentifyByToken;
  watched: WatchedStreams;
  work: LargeWork;
};

/** Parses a request by its route's schemas, runs the handler and sends what it gives. */
async function run(ctx: RouteContext, route: Route, deps: RunDeps): Promise<void> {
  const { state } = ctx;
  if (route.workspaceOfToken !== undefined) state.key = await deps.identify(ctx, route.workspaceOfToken);
  else if (route.keyOf === undefined) requireScope(state.key, route);
  else refuseOtherOrigins(ctx);
  const signal = signalOf(ctx.res, deps.closing);
  // A sign-in has no workspace yet.
  const handling = createHandling(deps.work, state.key?.workspaceId ?? '', ctx.res, signal);
  try {
    const request = await requestOf(ctx, route, deps, { signal, handling });
    const { audit } = route;
    const { key, requestId } = state;
    if (isList(route)) await handling.reserve(MAX_PAGE_BYTES);
    const requireRoom = (query: Query) => deps.requireAuditRoom(query, allows(key.scopes, 'admin'));
    // What changes most and is not recorded (executions) has no scope to pay for.
    const response =
      audit === undefined || audit === 'none'
        ? await route.handler(request)
        : await actAs({ key, address: request.address, requestId, actions: audit, requireRoom }, () =>
            route.handler(request),
          );
    await respond(ctx, route, withoutStored(route, key, response), deps, handling);
  } finally {
    handling.dealtWith();
  }
}

/** Whether a response has pages, of which each is bounded by bytes. */
function isList({ query }: Route): boolean {
  return query instanceof z.ZodObject && 'cursor' in query.shape;
}

async function requestOf(
  ctx: RouteContext,
  route: Route,
  { db, authenticate, inProgress }: RunDeps,
  { signal, handling }: { signal: () => AbortSignal; handling: Handling },
): Promise<HttpRequest> {
  const { state } = ctx;
  const { keyOf } = route;
  const params = route.params && validate(route.params, ctx.params);
  const query = validate<unknown>(route.query ?? NoQuery, onlyOnce(ctx.query, route.repeatable));
  if (inProgress !== undefined && keyOf === undefined) takePart(ctx, inProgress);
  const { body, raw } = await readBody(ctx, route, handling);
  if (keyOf !== undefined) state.key = await authenticate(ctx, () => ({ kind: 'key', token: keyOf(body) }));
  const { key, requestId } = state;
  return new HttpRequest(ctx, {
    params,
    query,
    body,
    raw,
    db: db.workspace(key.workspaceId),
    key,
    requestId,
    signal,
    handling,
  });
}

/** @throws ApiError `rate_limited` where the workspace has as many requests in progress as it may have */
function takePart(ctx: RouteContext, inProgress: FairSemaphore): void {
  const { workspaceId } = ctx.state.key;
  const release = inProgress.tryAcquire(workspaceId);
  if (release === undefined)
    throw new ApiError(
      'rate_limited',
      `This workspace has ${inProgress.inUse(workspaceId)} requests in progress, as many as it may have here. ` +
        'Wait for some of them, or run executions with "Prefer: respond-async".',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  ctx.res.once('close', () => release());
}

/** Sends what the handler gives. */
async function respond(
  ctx: RouteContext,
  route: Route,
  response: unknown,
  { watched }: RunDeps,
  handling: Handling,
): Promise<void> {
  ctx.status = route.status ?? 200;
  if (response instanceof RawResponse) {
    if (response.status !== undefined) ctx.status = response.status;
    ctx.set(response.headers);
    ctx.body = response.body;
    ctx.type = response.contentType;
    if (response.body instanceof Readable) watched.watch(ctx.state.credential, response.body);
    // Files are read bit by bit.
    if (isList(route)) handling.keep();
    return;
  }
  // Secrets are shown in response to changes alone, which are sent as they are (docs/security.md).
  const encode = mayCompress(ctx) ? (text: string) => compress(ctx, text) : async (text: string) => text;
  const write = () => encode(stringifyJson(response));
  const body = isLargeJson(response, LARGE_BYTES) ? await handling.show(write) : await write();
  handling.keep(body.length);
  ctx.type = 'application/json';
  ctx.body = body;
}

/** @throws ApiError `insufficient_scope` */
function requireScope({ scopes }: AuthenticatedKey, route: Route): void {
  const needed = scopesOf(route);
  const names = needed.map((scope) => `"${scope}"`).join(' or ');
  if (!allows(scopes, ...needed))
    throw new ApiError('insufficient_scope', `This key lacks the scope ${names}, which this operation needs.`);
  const also = route.alsoScope;
  if (also !== undefined && !allows(scopes, also))
    throw new ApiError(
      'insufficient_scope',
      `This key lacks the scope "${also}", which this operation needs beside ${names}.`,
    );
}

/** A response as a key may see it: without what is stored, where it may not read that. */
function withoutStored({ withoutRead }: Route, { scopes }: AuthenticatedKey, response: unknown): unknown {
  const isWhole = withoutRead === undefined || allows(scopes, 'read');
  if (isWhole || typeof response !== 'object' || response instanceof RawResponse) return response;
  return { ...response, ...withoutRead };
}

async function readBody(ctx: Context, route: Route, handling: Handling): Promise<{ body: unknown; raw: Buffer }> {
  if (route.body === 'stream') return { body: undefined, raw: Buffer.alloc(0) };
  if (route.body === undefined) {
    if (route.method !== 'get') await readNoBody(ctx.req);
    return { body: undefined, raw: Buffer.alloc(0) };
  }
  if (route.bodyOptional && !hasBody(ctx.req)) return { body: validate(route.body, {}), raw: Buffer.alloc(0) };
  await handling.receive(announcedBytes(ctx.req, route.maxBodyBytes));
  const raw = await readJsonBytes(ctx.req, route.maxBodyBytes);
  await handling.begin(raw.length);
  return { body: validate(route.body, await parseJson(raw)), raw };
}
