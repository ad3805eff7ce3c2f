import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Middleware } from 'koa';
import { ApiError, RETRY_AFTER_SECONDS } from '../domain/errors.ts';
import { SingleFlight } from '../lib/single-flight.ts';
import { FixedText } from './compression.ts';
import { errorBody } from './middleware/error-responses.ts';
import { requireGet } from './require-get.ts';
import type { Route } from './route.ts';
import { DOCS_POLICY } from './security-headers.ts';
import { tagName, tagsIn } from './tags.ts';

/** Checks whether the service can currently work; rejects if not. */
export type ReadinessCheck = () => Promise<void>;

const CHECK_TIMEOUT_MS = 3_000;

async function stateOf(check: ReadinessCheck): Promise<'ok' | 'unreachable'> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      check(),
      new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('The check took too long.')), CHECK_TIMEOUT_MS);
      }),
    ]);
    return 'ok';
  } catch {
    return 'unreachable';
  } finally {
    clearTimeout(timer);
  }
}

/** The readiness of the service for `/readyz`, including what is missing. */
export async function readiness(checks: Record<string, ReadinessCheck>): Promise<{ ready: boolean; body: object }> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check)] as const),
  );
  const missing = states.filter(([, state]) => state !== 'ok').map(([name]) => name);
  const all = Object.fromEntries(states);
  if (missing.length === 0) return { ready: true, body: { status: 'ok', ...all } };
  const message = `Not ready: ${missing.join(' and ')} cannot be reached at present.`;
  const error = errorBody(new ApiError('temporarily_unavailable', message));
  return { ready: false, body: { status: 'unavailable', ...all, ...error } };
}

/** The body of `/readyz` while a process starts or stops. */
export const NOT_READY = {
  status: 'unavailable',
  ...errorBody(new ApiError('temporarily_unavailable', 'Not ready: the process is starting or stopping.')),
};

/** The body of `/healthz`. */
export const HEALTHY = { status: 'ok' };

/**
 * `/healthz`: the process is running. `/readyz`: the database and Temporal are reachable too; otherwise 500 with what is
 * missing.
 */
export function healthRoutes(checks: Record<string, ReadinessCheck>): Middleware {
  // Concurrent requests share one check of the database and Temporal.
  const checking = new SingleFlight<Awaited<ReturnType<typeof readiness>>>();
  return async (ctx, next) => {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next();
    requireGet(ctx);
    if (ctx.path === '/healthz') ctx.body = HEALTHY;
    else {
      const { ready, body } = await checking.run('', () => readiness(checks));
      ctx.status = ready ? 200 : 500;
      ctx.body = body;
      if (!ready) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
    }
  };
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Prompt Management Service: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
/**
 * A key that is filled in takes precedence over the browser's session. It is kept only while the page is open: the console,
 * which has the same origin, could read the browser's storage. Keys stored by earlier versions are removed.
 */
const START = `localStorage.removeItem('authorized');
SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, persistAuthorization: false, tryItOutEnabled: true, validatorUrl: null,
  requestInterceptor: (request) => {
    if (request.headers.Authorization) request.credentials = 'omit';
    else request.headers['X-Console'] = '1';
    return request;
  } });
`;
const ASSETS = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

/**
 * `/openapi.json` (with `?tag=`: only the operations of that tag), and `/docs`: a page to read and try the API, without external
 * resources.
 * @param createDocument called at the first request for a document, because it would slow down each start
 */
export function docsRoutes(routes: readonly Route[], createDocument: (routes: Route[]) => object): Middleware {
  const folder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const tags = new Set(routes.map(tagName));
  /** By tag; that of all operations by ''. */
  const documents = new Map<string, FixedText>();
  function documentOf(tag: string): FixedText {
    const known = documents.get(tag);
    if (known !== undefined) return known;
    const chosen = routes.filter((route) => tag === '' || tagName(route) === tag);
    const document = new FixedText(JSON.stringify(createDocument(chosen)));
    documents.set(tag, document);
    return document;
  }
  const files = new Map<string, FixedText>();
  /** Cached at the first request, so that concurrent requests share one copy. */
  function fileOf(name: string): FixedText {
    const file = files.get(name) ?? new FixedText(readFileSync(path.join(folder, name)));
    files.set(name, file);
    return file;
  }
  return async (ctx, next) => {
    if (!/^\/(openapi\.json$|docs(\/|$))/.test(ctx.path)) return next();
    requireGet(ctx);
    ctx.set('Cache-Control', 'no-cache');
    const asset = /^\/docs\/([\w.-]+)$/.exec(ctx.path)?.[1] ?? '';
    const type = ASSETS.get(asset);
    if (ctx.path === '/openapi.json') {
      const [tag = '', ...more] = tagsIn('tag', ctx.query['tag'], tags) ?? [];
      if (more.length > 0) throw new ApiError('invalid_request', 'tag: give one');
      ctx.type = 'application/json';
      await documentOf(tag).send(ctx);
    } else if (ctx.path === '/docs' || ctx.path === '/docs/') {
      ctx.set('Content-Security-Policy', DOCS_POLICY);
      ctx.type = 'text/html';
      ctx.body = PAGE;
    } else if (asset === 'start.js') {
      ctx.type = 'text/javascript';
      ctx.body = START;
    } else if (type !== undefined) {
      ctx.type = type;
      ctx.set('Cache-Control', 'public, max-age=86400');
      await fileOf(asset).send(ctx);
    } else await next();
  };
}
