import { Gauge, type Registry } from 'prom-client';
import { cachedReading, PING_KEPT_AT_MOST_MS } from './cached-reading.ts';

/**
 * Registers gauges of whether and how fast Temporal responds.
 * @param ping a cheap call; rejects if Temporal can't be reached
 */
export function addTemporalMetrics(registry: Registry, ping: () => Promise<void>): void {
  const registers = [registry];
  const pinged = cachedReading(
    async () => {
      const startedAt = performance.now();
      await ping();
      return (performance.now() - startedAt) / 1_000;
    },
    { unknown: Number.NaN, keptAtMostMs: PING_KEPT_AT_MOST_MS },
  );
  new Gauge({
    name: 'pms_temporal_up',
    help: 'Whether Temporal responds',
    registers,
    async collect() {
      this.set(Number.isNaN(await pinged()) ? 0 : 1);
    },
  });
  new Gauge({
    name: 'pms_temporal_ping_seconds',
    help: 'Time for a cheap call to Temporal',
    registers,
    async collect() {
      this.set(await pinged());
    },
  });
}
