import { Counter, Histogram, type Registry } from 'prom-client';
import type { Outbound } from '../../../outbound/outbound.ts';

const REQUESTS = 'pms_scorer_requests_total';
const SECONDS = 'pms_scorer_request_seconds';

/** Wraps the client to count its requests in Prometheus metrics, replacing existing metrics of the same names. */
export function countScorerRequests(registry: Registry, outbound: Outbound): Outbound {
  for (const name of [REQUESTS, SECONDS]) registry.removeSingleMetric(name);
  const registers = [registry];
  const requests = new Counter({ name: REQUESTS, help: 'Requests to scorers', labelNames: ['outcome'], registers });
  const seconds = new Histogram({
    name: SECONDS,
    help: 'Duration of requests to scorers',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  // Starts at 0, so that the first of each is visible as an increase.
  for (const outcome of ['succeeded', 'failed']) requests.inc({ outcome }, 0);
  return {
    async post(request) {
      const result = await outbound.post(request);
      requests.inc({ outcome: result.error === null ? 'succeeded' : 'failed' });
      seconds.observe(result.durationMs / 1_000);
      return result;
    },
    close: () => outbound.close(),
  };
}
