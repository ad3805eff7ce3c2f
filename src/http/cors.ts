import type { Middleware } from 'koa';

/** Origins whose pages may call the API, such as `https://app.example.com`. */
export type CorsOrigins = readonly string[];

/** What pages may read of a response beside its body. */
const EXPOSED =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed, Content-Disposition';
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** For as long as browsers keep it (seconds). */
const MAX_AGE = '7200';
const HEADER_NAMES = /^[\w\-, ]{1,2000}$/;

/**
 * Lets pages of some origins call the API with a key (Fetch standard, CORS protocol). Cookies are never allowed: a session is for pages of
 * this service. Requests of other origins are treated as usual, and browsers keep the responses from their pages.
 */
export function cors(origins: CorsOrigins): Middleware {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    if (allowed.size === 0) return next();
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (!allowed.has(origin)) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') {
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
