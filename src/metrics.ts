import { collectDefaultMetrics, type Registry } from 'prom-client';
import { listen, type RunningServer } from './http/http-server.ts';

/**
 * Serves `GET /metrics` for Prometheus on a port of its own, without a key. Node's figures are added here, for what observes
 * them cannot be stopped: they are for a process that serves them to its end.
 */
export function serveMetrics(registry: Registry, host: string, port: number): Promise<RunningServer> {
  collectDefaultMetrics({ register: registry });
  return listen(
    (request, response) => {
      if (request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      registry.metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    },
    { host, port, setting: 'METRICS_PORT' },
  );
}
