import type { ServerResponse } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { listen, type RunningServer } from './http/http-server.ts';
import { HEALTHY, type ReadinessCheck, readiness } from './http/public-routes.ts';

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/**
 * Serves `GET /metrics` for Prometheus, `/healthz` and `/readyz` on a port of its own, without a key: whatever callers of the API do with
 * its connections, operators get through. Node's figures are added here, for what observes them cannot be stopped: they are for a process
 * that serves them to its end.
 * @param checks what `/readyz` looks at
 */
export function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  checks: Record<string, ReadinessCheck> = {},
): Promise<RunningServer> {
  collectDefaultMetrics({ register: registry });
  return listen(
    (request, response) => {
      if (request.url === '/healthz') sendJson(response, 200, HEALTHY);
      else if (request.url === '/readyz')
        void readiness(checks).then(({ ready, body }) => sendJson(response, ready ? 200 : 500, body));
      else if (request.url !== '/metrics') response.writeHead(404).end();
      else
        registry.metrics().then(
          (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
    },
    { host, port, setting: 'METRICS_PORT' },
  );
}
