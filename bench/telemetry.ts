import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { freePort } from '../src/embedded/ports.ts';
import { startHelper } from './child.ts';
import { cpuOf } from './cpu.ts';
import { executionLoad, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';

const PAIRS = 20;
const CALLERS = 20;
const COUNT = 300;
/** V8 compiles hot code in the first thousand runs or so. */
const WARM_UP = 1_000;
const MOST = 1.05;
const LEAST = 0.95;
/** Consecutive scrapes share what is read from PostgreSQL, which happens at most every 5 s. */
const SCRAPES = 200;

/** A collector that accepts everything and stores nothing. */
async function startSink(): Promise<{ url: string; bytes(): number; stop(): void }> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bytes: () => bytes, stop: () => void server.close() };
}

/** Scrapes the metrics many times. @returns their size in bytes */
async function scrape(port: string): Promise<number> {
  let bytes = 0;
  for (let n = 0; n < SCRAPES; n += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
    ({ byteLength: bytes } = await response.arrayBuffer());
  }
  return bytes;
}

/**
 * The cost of telemetry: two services that differ only in telemetry run the same prompt with `sandbox/echo` in turns, so that both of a
 * pair meet the same state of the machine. Compares the CPU time of the whole process, and the throughput, which on a busy machine
 * depends more on other load.
 */
export async function measureTelemetry(servers: Servers, means: Means): Promise<Outcome> {
  const pairs = means.rounds ?? PAIRS;
  const benchmark = `cost of telemetry (${pairs} pairs of ${COUNT} executions, every trace kept)`;
  if (process.platform !== 'linux') return { benchmark, rows: [], skipped: 'CPU times are read from /proc' };
  const sink = await startSink();
  const settingsOf = async (name: string) => ({
    TEMPORAL_TASK_QUEUE_PREFIX: `bench-${name}`,
    METRICS_PORT: String(await freePort()),
  });
  const withoutTelemetry = await settingsOf('off');
  const withTelemetry = { ...(await settingsOf('on')), OTEL_EXPORTER_OTLP_ENDPOINT: sink.url };
  const off = await startService(servers, withoutTelemetry, means.profileFolder);
  const on = await startService(servers, withTelemetry, means.profileFolder);
  const sampled = await startService(servers, {
    ...withTelemetry,
    ...(await settingsOf('sampled')),
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  });
  const http = await startHelper('http-load.ts');
  try {
    await off.call('POST', '/prompts', { name: 'bench', template: 'Greet {{ name }}.', model: 'sandbox/echo' });
    const run = (service: Service, count: number) =>
      http.ask({ ...executionLoad(service), callers: CALLERS, count }, LoadResult);
    const contenders = { off, on, sampled };
    for (const service of Object.values(contenders)) await run(service, WARM_UP);
    const cpuMs: Record<keyof typeof contenders, number[]> = { off: [], on: [], sampled: [] };
    const perSecond: Record<keyof typeof contenders, number[]> = { off: [], on: [], sampled: [] };
    const measure = async (name: keyof typeof contenders) => {
      const service = contenders[name];
      const begunAt = performance.now();
      const { cpuMs: used } = await cpuOf({ service: [service.pid] }, () => run(service, COUNT));
      perSecond[name].push(COUNT / ((performance.now() - begunAt) / 1_000));
      cpuMs[name].push(used.service / COUNT);
    };
    const names = Object.keys(contenders) as (keyof typeof contenders)[];
    for (let pair = 0; pair < pairs; pair += 1)
      // Rotates which one comes first.
      for (let turn = 0; turn < names.length; turn += 1) await measure(names[(pair + turn) % names.length] ?? 'off');
    const scraped = await cpuOf({ service: [off.pid] }, () => scrape(withoutTelemetry.METRICS_PORT));
    return {
      benchmark,
      rows: [
        row('CPU time an execution, off', 'ms', cpuMs.off),
        row('CPU time an execution, on', 'ms', cpuMs.on),
        ratioRow('on, of what it takes off', cpuMs.on, cpuMs.off, { atMost: MOST }),
        ratioRow('one trace in ten, of what it takes off', cpuMs.sampled, cpuMs.off, { atMost: MOST }),
        row('throughput, off', '/s', perSecond.off),
        row('throughput, on', '/s', perSecond.on),
        ratioRow('throughput on, of that off', perSecond.on, perSecond.off, { atLeast: LEAST }),
        row('CPU time a scrape of /metrics', 'ms', [scraped.cpuMs.service / SCRAPES]),
      ],
      notes: [
        `${(sink.bytes() / 1024 ** 2).toFixed(1)} MiB were exported.`,
        `/metrics is ${(scraped.result / 1024).toFixed(0)} KiB.`,
      ],
    };
  } finally {
    for (const service of [off, on, sampled]) await service.stop();
    await http.stop();
    sink.stop();
  }
}
