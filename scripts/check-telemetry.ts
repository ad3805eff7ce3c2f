// npm run check:telemetry
// Sends the service's telemetry to the OpenTelemetry Collector over each protocol, and checks what it received. Go builds the Collector
// from pinned checksums, once per user; it writes what it receives to a file, as OTLP in JSON.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { endProcess, endWithThisProcess } from '../bench/child.ts';
import { startReceiver } from '../bench/receiver-questions.ts';
import { startServers } from '../bench/servers.ts';
import { startService } from '../bench/service.ts';
import { freePort } from '../src/embedded/ports.ts';
import { goTool } from './go-tools.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const WAIT_MS = 60_000;
const Created = z.object({ id: z.string() });
const report = (line: string) => console.error(line);

interface Value {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
}
interface Named {
  name: string;
  attributes?: { key: string; value: Value }[];
}
interface Span extends Named {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  events?: Named[];
}
interface Metric {
  name: string;
  histogram?: { dataPoints: { count: string; sum: number }[] };
}
interface Line {
  resourceSpans?: { scopeSpans: { spans: Span[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
}

async function startCollector(binary: string, folder: string) {
  const [http, grpc] = [await freePort(), await freePort()];
  const received = path.join(folder, 'received.json');
  const config = path.join(folder, 'collector.yaml');
  // JSON is valid YAML.
  writeFileSync(
    config,
    JSON.stringify({
      receivers: {
        otlp: { protocols: { http: { endpoint: `127.0.0.1:${http}` }, grpc: { endpoint: `127.0.0.1:${grpc}` } } },
      },
      exporters: { file: { path: received, flush_interval: '200ms' }, debug: { verbosity: 'basic' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: {
          traces: { receivers: ['otlp'], exporters: ['file', 'debug'] },
          metrics: { receivers: ['otlp'], exporters: ['file', 'debug'] },
        },
      },
    }),
  );
  writeFileSync(received, '');
  const child = spawn(binary, ['--config', `file:${config}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  endWithThisProcess(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`The Collector ended: ${log.slice(-2000)}`);
  });
  ended.catch(() => {});
  while (!log.includes('Everything is ready')) await Promise.race([delay(100), ended]);
  const lines = (): Line[] =>
    readFileSync(received, 'utf8')
      .split('\n')
      // The last line may be incomplete.
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    endpoints: { 'http/protobuf': `http://127.0.0.1:${http}`, grpc: `http://127.0.0.1:${grpc}` },
    spans: () =>
      lines().flatMap(({ resourceSpans = [] }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    metrics: () =>
      lines().flatMap(({ resourceMetrics = [] }) =>
        resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
      ),
    log: () => log,
    stop: () => endProcess(child),
  };
}

const attributeOf = ({ attributes = [] }: Named, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue ?? value?.doubleValue;
};

/** Everything that must have arrived; the error names what is missing. */
async function expectAll(what: Record<string, () => boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  let missing = Object.keys(what);
  while (missing.length > 0) {
    missing = missing.filter((name) => !what[name]?.());
    if (missing.length > 0 && Date.now() > deadline)
      throw new Error(`The Collector did not get: ${missing.join('; ')}`);
    await delay(200);
  }
}

const servers = await startServers(report);
const receiver = await startReceiver(0);
try {
  const binary = await goTool('otel-collector', report);
  for (const protocol of ['http/protobuf', 'grpc'] as const) {
    const collector = await startCollector(binary, servers.folder);
    const service = await startService(servers, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoints[protocol],
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_BSP_SCHEDULE_DELAY: '500',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      OTEL_METRIC_EXPORT_TIMEOUT: '1000',
      WEBHOOK_ALLOW_PRIVATE: 'loopback',
    });
    const name = protocol.replace('/', '-');
    await service.call('POST', '/prompts', { name, template: 'Greet {{ name }}.', model: 'sandbox/echo' });
    const webhook = { url: receiver.url, events: ['execution.completed'] };
    const { id } = Created.parse(await service.call('POST', '/webhooks', webhook));
    const run = await fetch(`${service.origin}/v1/executions`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.key}`,
        'Content-Type': 'application/json',
        traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
      },
      body: JSON.stringify({ prompt_name: name, variables: { name: 'Ada' } }),
    });
    if (run.status !== 201) throw new Error(`The execution was not made: ${await run.text()}`);
    await service.call('POST', '/evaluations', {
      prompt_name: name,
      examples: [{ variables: { name: 'Ada' }, expected: 'Greet Ada.' }],
      evaluators: [{ type: 'contains', value: 'Ada' }],
    });
    const inTrace = () => collector.spans().filter(({ traceId }) => traceId === TRACE_ID);
    const has = (span: string) => () => inTrace().some((each) => each.name === span);
    const metric = (wanted: string) => () =>
      collector.metrics().some(({ name: given, histogram }) => given === wanted && histogram !== undefined);
    await expectAll({
      'the request': has('POST /v1/executions'),
      'the start of the workflow': has('StartWorkflow:executePrompt'),
      'the step': has('RunActivity:callModel'),
      'the call of the model': () =>
        inTrace().some((span) => span.name.startsWith('chat') && attributeOf(span, 'gen_ai.prompt.name') === name),
      'the delivery': () => inTrace().some((span) => attributeOf(span, 'pms.delivery.id') !== undefined),
      'the score': () =>
        collector
          .spans()
          .flatMap(({ events = [] }) => events)
          .some((event) => event.name === 'gen_ai.evaluation.result'),
      'the tokens': metric('gen_ai.client.token.usage'),
      'the durations': metric('gen_ai.client.operation.duration'),
    });
    console.log(`${protocol}: the trace ${TRACE_ID} as the Collector received it`);
    const ids = new Map(inTrace().map((span) => [span.spanId, span]));
    const depthOf = ({ parentSpanId = '' }: Span): number => {
      const parent = ids.get(parentSpanId);
      return parent === undefined ? 0 : 1 + depthOf(parent);
    };
    for (const span of [...inTrace()].sort((one, other) => depthOf(one) - depthOf(other)))
      console.log(`  ${'  '.repeat(depthOf(span))}${span.name}`);
    const all = collector.spans();
    console.log(`  and ${all.length - inTrace().length} other spans, ${collector.metrics().length} metrics in all`);
    if (/error/i.test(collector.log())) console.log(collector.log().slice(-1000));
    await service.call('DELETE', `/webhooks/${id}`);
    await service.stop();
    await collector.stop();
  }
} finally {
  await receiver.stop();
  await servers.stop();
}
console.log('The Collector received all of it.');
process.exit();
