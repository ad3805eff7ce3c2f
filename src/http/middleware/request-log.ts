import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { AppState } from '../state.ts';

/** Counts and times requests by operation. */
export interface HttpMetrics {
  observe(labels: { method: string; route: string; status: string }, seconds: number): void;
}

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'pms_http_requests_total',
    help: 'HTTP requests',
    labelNames,
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'pms_http_request_seconds',
    help: 'Time to answer an HTTP request',
    labelNames,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  return {
    observe(labels, seconds) {
      requests.inc(labels);
      duration.observe(labels, seconds);
    },
  };
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** Assigns each request an id, and logs and counts it when its response was sent. */
export function requestLog(log: Logger, metrics: HttpMetrics): Middleware<AppState> {
  return async (ctx, next) => {
    const started = performance.now();
    const given = ctx.get('X-Request-Id');
    const requestId = SANE_REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
    ctx.state.requestId = requestId;
    // Not a child logger with the id: few requests log anything.
    ctx.state.log = log;
    ctx.set('X-Request-Id', requestId);
    await next();
    const ms = performance.now() - started;
    const route: unknown = ctx['_matchedRoute'];
    metrics.observe(
      { method: ctx.method, route: typeof route === 'string' ? route : 'none', status: String(ctx.status) },
      ms / 1000,
    );
    log.debug(
      { request_id: requestId, method: ctx.method, path: ctx.path, status: ctx.status, ms: Math.round(ms) },
      'request',
    );
  };
}
