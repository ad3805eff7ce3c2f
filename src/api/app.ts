import { createHash } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { ApiError } from '../domain/errors.ts';
import type { AuthenticatedKey, Authenticator } from '../services/authenticate.ts';
import type { RateLimiter } from '../services/rate-limiter.ts';
import { readJsonBody } from './json-body.ts';
import { authentication } from './middleware/authentication.ts';
import { errorAnswers } from './middleware/error-answers.ts';
import { type HttpMetrics, requestLog } from './middleware/request-log.ts';
import { nameOf, normalizePath, toRouterPath } from './paths.ts';
import { RawAnswer, type Route } from './route.ts';
import { validate } from './validate.ts';

/** What a request carries through the middleware. */
export interface AppState {
  requestId: string;
  key: AuthenticatedKey;
  log: Logger;
}

export interface AppDeps {
  db: Database;
  routes: Route[];
  authenticator: Authenticator;
  /** Per key; undefined: no limit. */
  rateLimiter: RateLimiter | undefined;
  /** Failed authentications per address; undefined: no limit. */
  failureLimiter: RateLimiter | undefined;
  /** Routes outside `/v1`: health, documentation. */
  publicRoutes: Middleware[];
  metrics: HttpMetrics;
  trustProxy: boolean;
  log: Logger;
}

/** The HTTP application. What answers is in the routes; this is the way in and out, the same for all. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const app = new Koa<AppState>();
  app.proxy = deps.trustProxy;
  app.silent = true;
  app.use(requestLog(deps.log, deps.metrics));
  app.use(errorAnswers());
  for (const route of deps.publicRoutes) app.use(route);
  app.use(async (ctx, next) => {
    if (ctx.path !== '/v1' && !ctx.path.startsWith('/v1/'))
      throw new ApiError('not_found', 'There is nothing here: the API is under /v1, its documentation at /docs.');
    ctx.path = normalizePath(ctx.path);
    await next();
  });
  app.use(authentication(deps));

  const router = new Router<AppState>({ prefix: '/v1' });
  for (const route of deps.routes) router[route.method](toRouterPath(route.path), (ctx) => run(ctx, route, deps.db));
  app.use(router.routes());
  app.use((ctx) => {
    const elsewhere = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    if (elsewhere.length === 0) throw new ApiError('not_found', `There is no ${ctx.path} in this API; see /docs.`);
    const allowed = [...new Set(elsewhere)].filter((method) => method !== 'HEAD').join(', ');
    throw new ApiError('invalid_request', `${ctx.method} is not possible here; use ${allowed}.`);
  });
  return app;
}

/** Parses a request by its route's schemas, runs the handler and sends what it gives. */
async function run(ctx: Context & { state: AppState; params: Record<string, string> }, route: Route, db: Database) {
  const { state } = ctx;
  if (!state.key.scopes.includes(route.scope) && !state.key.scopes.includes('admin'))
    throw new ApiError('insufficient_scope', `This key lacks the scope "${route.scope}", which this operation needs.`);
  const params = route.params && validate(route.params, decodeParams(ctx.params));
  const query = route.query && validate(route.query, { ...ctx.query });
  const { body, raw } = await readBody(ctx, route);
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  const answer = await route.handler({
    params,
    query,
    body,
    db: db.workspace(state.key.workspaceId),
    key: state.key,
    requestId: state.requestId,
    header: (name) => ctx.get(name) || undefined,
    setHeader: (name, value) => ctx.set(name, value),
    stream: ctx.req,
    signal: gone.signal,
    requestHash: createHash('sha256').update(`${ctx.method} ${ctx.path}\n`).update(raw).digest(),
  });
  ctx.status = route.status ?? 200;
  if (answer instanceof RawAnswer) {
    ctx.set(answer.headers);
    ctx.body = answer.body;
    ctx.type = answer.contentType;
  } else ctx.body = answer;
}

function decodeParams(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, nameOf(value)]));
}

async function readBody(ctx: Context, route: Route): Promise<{ body: unknown; raw: Buffer }> {
  if (route.body === 'stream' || route.body === undefined) return { body: undefined, raw: Buffer.alloc(0) };
  const { raw, json } = await readJsonBody(ctx.req);
  return { body: validate(route.body, json), raw };
}
