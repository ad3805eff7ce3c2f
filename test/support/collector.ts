import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { until, waitFor } from './wait-for.ts';

// A receiver of OTLP over HTTP with JSON (OTEL_EXPORTER_OTLP_PROTOCOL=http/json), as the protocol has it.

const Value = z.object({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: z.union([z.number(), z.string().transform(Number)]).optional(),
  doubleValue: z.number().optional(),
  arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string().optional() })) }).optional(),
});
const AttributeList = z
  .array(z.object({ key: z.string(), value: Value }))
  .default([])
  .transform((list) =>
    Object.fromEntries(
      list.map(({ key, value: { stringValue, boolValue, intValue, doubleValue, arrayValue } }) => [
        key,
        stringValue ?? boolValue ?? intValue ?? doubleValue ?? arrayValue?.values.map((each) => each.stringValue),
      ]),
    ),
  );
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: AttributeList,
  events: z.array(z.object({ name: z.string(), attributes: AttributeList })).default([]),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.object({ code: z.number().default(0), message: z.string().optional() }),
});
const Resource = z.object({ attributes: AttributeList });
const Traces = z.object({
  resourceSpans: z.array(z.object({ resource: Resource, scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
});
const Point = z.object({
  attributes: AttributeList,
  count: z.union([z.number(), z.string().transform(Number)]),
  sum: z.number(),
  explicitBounds: z.array(z.number()),
});
const Metrics = z.object({
  resourceMetrics: z.array(
    z.object({
      scopeMetrics: z.array(
        z.object({
          metrics: z.array(
            z.object({
              name: z.string(),
              unit: z.string(),
              histogram: z.object({ dataPoints: z.array(Point) }).optional(),
            }),
          ),
        }),
      ),
    }),
  ),
});

export type CollectedSpan = z.output<typeof Span> & { resource: z.output<typeof AttributeList> };
export type CollectedMetric = z.output<typeof Metrics>['resourceMetrics'][0]['scopeMetrics'][0]['metrics'][0];

/** A collector that records what it receives. */
export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** As they were exported last. */
  metrics: CollectedMetric[];
  /** All received bytes as text. */
  text(): string;
  /** Requests so far. */
  requests(): number;
  /** Waits for a span. */
  span(what: string, isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
  /** Waits until a metric has that many points. */
  metric(name: string): Promise<CollectedMetric>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let metrics: CollectedMetric[] = [];
  const texts: string[] = [];
  const faults: unknown[] = [];
  const take = (path: string | undefined, text: string) => {
    texts.push(text);
    if (path === '/v1/traces')
      for (const { resource, scopeSpans } of Traces.parse(JSON.parse(text)).resourceSpans)
        spans.push(
          ...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, resource: resource.attributes }))),
        );
    else if (path === '/v1/metrics')
      metrics = Metrics.parse(JSON.parse(text)).resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap((scope) => scope.metrics),
      );
    else throw new Error(`Nothing is expected at ${path}.`);
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      take(request.url, Buffer.concat(chunks).toString());
    } catch (error) {
      faults.push(error);
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const found = <T>(what: string, find: () => T | undefined) =>
    waitFor(what, async () => {
      if (faults.length > 0) throw faults[0];
      return find();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get metrics() {
      return metrics;
    },
    text: () => texts.join('\n'),
    requests: () => texts.length,
    span: (what, isIt) => found(`the span ${what}`, () => spans.find(isIt)),
    metric: (name) => found(`the metric ${name}`, () => metrics.find((metric) => metric.name === name)),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await until('the collector is closed', async () => !server.listening);
    },
  };
}
