import type { ServerResponse } from 'node:http';
import { collectDefaultMetrics } from 'prom-client';
import { type Dependencies, readinessChecks } from './dependencies.ts';
import { listen, type RunningServer } from './http/http-server.ts';
import { HEALTHY, NOT_READY, readiness } from './http/public-routes.ts';
import { readSdkMetrics } from './temporal/sdk-metrics.ts';

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** The metrics of this process, then those of Temporal's SDK. */
async function allMetrics({ registry, sdkMetricsAddress, taskQueues }: Dependencies): Promise<string> {
  const kinds = new Map(Object.entries(taskQueues).map(([kind, name]) => [name, kind]));
  const [own, ofSdk] = await Promise.all([
    registry.metrics(),
    sdkMetricsAddress === undefined ? '' : readSdkMetrics(sdkMetricsAddress, (name) => kinds.get(name) ?? 'other'),
  ]);
  return own + ofSdk;
}

/**
 * Serves `GET /metrics` for Prometheus, `/healthz` and `/readyz` on a separate port without a key, so that operators get through whatever
 * API callers do with its connections. Also adds Node.js metrics, whose observers cannot be stopped, so use this only in processes that
 * serve them until exit.
 * @param isAtWork whether the process has started and is not stopping: otherwise `/readyz` is a 500, so that no caller is routed to it
 */
export function serveMetrics(dependencies: Dependencies, isAtWork: () => boolean = () => true): Promise<RunningServer> {
  const { registry, settings } = dependencies;
  const { host, metricsPort: port } = settings;
  const checks = readinessChecks(dependencies);
  collectDefaultMetrics({ register: registry });
  return listen(
    (request, response) => {
      if (request.url === '/healthz') sendJson(response, 200, HEALTHY);
      else if (request.url === '/readyz' && !isAtWork()) sendJson(response, 500, NOT_READY);
      else if (request.url === '/readyz')
        void readiness(checks).then(({ ready, body }) => sendJson(response, ready ? 200 : 500, body));
      else if (request.url !== '/metrics') response.writeHead(404).end();
      else
        allMetrics(dependencies).then(
          (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
    },
    { host, port, setting: 'METRICS_PORT' },
  );
}
