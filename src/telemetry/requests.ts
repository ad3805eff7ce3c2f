import { context, propagation, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { Context, Middleware } from 'koa';
import { publicId } from '../domain/ids.ts';
import type { AppState } from '../http/state.ts';
import { attributesOf, markFailed, OUR, tracer } from './spans.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);

/** Maximum length of callers' texts, because spans are queued in memory. */
const MAX_CHARS = 500;

/** Converts `/v1/executions/:id` to the documented form `/v1/executions/{id}`. */
const templateOf = (route: string) => route.replaceAll(/[:*](\w+)/g, '{$1}');

/** Adds what is known once a request has been handled. */
function describe(span: Span, ctx: Context & { state: Partial<AppState> }, method: string): void {
  const matched: unknown = ctx['_matchedRoute'];
  const route = typeof matched === 'string' ? templateOf(matched) : undefined;
  if (route !== undefined) span.updateName(`${method} ${route}`);
  const workspaceId = ctx.state.key?.workspaceId;
  span.setAttributes(
    attributesOf({
      'http.route': route,
      'http.response.status_code': ctx.res.statusCode,
      [OUR.workspace]: workspaceId ? publicId('workspace', workspaceId) : undefined,
    }),
  );
  if (ctx.res.statusCode >= 500) markFailed(span, String(ctx.res.statusCode));
}

/** A span for each request to `/v1`, in the trace of its caller. It ends when the response was sent, for a stream at its end. */
export function traceRequests(): Middleware<AppState> {
  // Most callers send none of these headers.
  const fields = propagation.fields().map((name) => name.toLowerCase());
  return async (ctx, next) => {
    // Not `ctx.path`: an invalid target is rejected later.
    const path = ctx.req.url?.split('?', 1)[0] ?? '';
    if (!path.startsWith('/v1/')) return next();
    const method = METHODS.has(ctx.method) ? ctx.method : '_OTHER';
    const { headers } = ctx.req;
    const isCalled = fields.some((name) => headers[name] !== undefined);
    const parent = isCalled ? propagation.extract(context.active(), headers) : context.active();
    const attributes = attributesOf({
      'http.request.method': method,
      'url.path': path.slice(0, MAX_CHARS),
      'url.scheme': 'http',
      'network.protocol.version': ctx.req.httpVersion,
      'user_agent.original': headers['user-agent']?.slice(0, MAX_CHARS),
    });
    const name = method === '_OTHER' ? 'HTTP' : method;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    ctx.res.once('close', () => {
      describe(span, ctx, name);
      span.end();
    });
    await context.with(trace.setSpan(parent, span), next);
  };
}
