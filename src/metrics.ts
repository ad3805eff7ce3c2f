import { collectDefaultMetrics, Registry } from 'prom-client';
import { listen, type RunningServer } from './http/http-server.ts';

/** The process's own registry, with Node's figures in it. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Serves `GET /metrics` for Prometheus on a port of its own, without a key. */
export function serveMetrics(registry: Registry, host: string, port: number): Promise<RunningServer> {
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
