import type { Context, Middleware } from 'koa';

/** Origins whose pages can call the API, such as `https://app.example.com`. */
export type CorsOrigins = readonly string[];

/** Response headers that pages can read. */
const EXPOSED =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed, Content-Disposition';
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** Maximum time that browsers cache it, in seconds. */
const MAX_AGE = '7200';
const isPreflight = (ctx: Context) => ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '';
const HEADER_NAMES = /^[\w\-, ]{1,2000}$/;

/** Headers that a page can send to a path open to all pages. */
const OPEN_HEADERS = 'Authorization, Content-Type';

/**
 * Lets pages of some origins call the API with a key (Fetch standard, CORS protocol). Cookies are never allowed: sessions are only for
 * pages of this service. Requests from other origins are handled as usual, and browsers hide the responses from their pages.
 * @param open paths to which pages of any origin can POST with their own token
 */
export function cors(origins: CorsOrigins, open: ReadonlySet<string> = new Set()): Middleware {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    if (open.has(ctx.path)) return answerAnyOrigin(ctx, next);
    if (allowed.size === 0) return next();
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (!allowed.has(origin)) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    if (!isPreflight(ctx)) {
      ctx.set('Access-Control-Expose-Headers', EXPOSED);
      return next();
    }
    const headers = ctx.get('Access-Control-Request-Headers');
    ctx.set('Access-Control-Allow-Methods', METHODS);
    if (HEADER_NAMES.test(headers)) ctx.set('Access-Control-Allow-Headers', headers);
    ctx.set('Access-Control-Max-Age', MAX_AGE);
    ctx.status = 200;
    ctx.body = '';
  };
}

async function answerAnyOrigin(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  ctx.set('Access-Control-Allow-Origin', '*');
  if (!isPreflight(ctx)) {
    ctx.set('Access-Control-Expose-Headers', EXPOSED);
    await next();
    return;
  }
  ctx.set('Access-Control-Allow-Methods', 'POST');
  ctx.set('Access-Control-Allow-Headers', OPEN_HEADERS);
  ctx.set('Access-Control-Max-Age', MAX_AGE);
  ctx.status = 200;
  ctx.body = '';
}
