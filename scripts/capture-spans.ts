import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { decodeMessage, REQUEST, SPAN } from '../src/domain/traces/otlp/schema.ts';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import { installedTools } from './installed-tools.ts';
import { pythonWith, run } from './python.ts';

// Runs agents with the instrumentations of tools/instrumentations against a stand-in for OpenAI, and writes their spans to
// test/domain/traces/fixtures as OTLP/JSON, together with the bill of the stand-in. `--into URL --key KEY` sends them to a service
// instead, and prints the bills. Arguments select instrumentations by name. Requires Python 3.10.

const root = path.resolve(import.meta.dirname, '..');
const home = path.join(root, 'tools', 'instrumentations');
const fixtures = path.join(root, 'test', 'domain', 'traces', 'fixtures');

const PYTHON = [
  'langfuse',
  'langgraph',
  'litellm',
  'openai-agents',
  'openinference-openai',
  'openllmetry',
  'pydantic-ai',
];
const NODE = { 'ai-sdk': [], 'ai-sdk-legacy': ['legacy'] } as const;

/** The stand-in's usage for the call with the question, and for that with the tool's result. */
const USAGE = [
  { input: 52, output: 9, cached: 0, reasoning: 0, cacheWrite: 0 },
  { input: 90, output: 12, cached: 64, reasoning: 4, cacheWrite: 0 },
] as const;

/** Attributes of the machine, not of the instrumentation. */
const OF_MACHINE = /^(process|host|os|thread|code|service\.instance)\./;
/** Start time of the first span of each fixture. */
const BEGIN_NS = 1_767_225_600_000_000_000n;

type Json = Record<string, unknown>;

/** Converts a message's ids and times to OTLP/JSON. */
function toOtlpJson(message: unknown, shift: bigint): unknown {
  if (message instanceof Uint8Array) return Buffer.from(message).toString('hex');
  if (Array.isArray(message))
    return message
      .filter((item) => !OF_MACHINE.test((item as { key?: string }).key ?? ''))
      .map((item) => toOtlpJson(item, shift));
  if (typeof message !== 'object' || message === null) return message;
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => [
      name,
      name.endsWith('UnixNano') && value !== '0' ? String(BigInt(value as string) + shift) : toOtlpJson(value, shift),
    ]),
  );
}

function spansOf(request: Json): Json[] {
  const members = (value: Json, name: string) => (value[name] ?? []) as Json[];
  return members(request, 'resourceSpans').flatMap((group) =>
    members(group, 'scopeSpans').flatMap((part) => members(part, 'spans')),
  );
}

/** Decodes spans from requests and merges them into one. */
function decoded(bodies: readonly Buffer[]): Json {
  const requests = bodies.map((body) => decodeMessage(REQUEST, body));
  for (const request of requests)
    for (const group of (request['resourceSpans'] ?? []) as Json[])
      for (const part of (group['scopeSpans'] ?? []) as { spans: Uint8Array[] }[])
        Object.assign(part, { spans: part.spans.map((span) => decodeMessage(SPAN, span)) });
  const request = { resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans) };
  const first = spansOf(request)
    .map(({ startTimeUnixNano }) => BigInt(startTimeUnixNano as string))
    .reduce((a, b) => (a < b ? a : b));
  return toOtlpJson(request, BEGIN_NS - first) as Json;
}

async function startSink() {
  const bodies: Buffer[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (req.url?.endsWith('/v1/traces'))
      bodies.push(req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { bodies, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Runs one, and returns what the model billed. */
async function runOne(name: string, otel: { url: string; key: string }) {
  const calls: (typeof USAGE)[number][] = [];
  const model = await startOpenAiServer({
    answer: ({ body }) => {
      const isLast = (body['messages'] as { role: string }[]).at(-1)?.role === 'tool';
      const usage = USAGE[isLast ? 1 : 0];
      calls.push(usage);
      if (isLast) return { text: 'It is 21 degrees in Paris.', usage };
      return { text: '', usage, toolCalls: [{ id: 'call_1', name: 'get_weather', input: { city: 'Paris' } }] };
    },
  });
  const env = {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: 'stand-in',
    OTEL_EXPORTER_OTLP_ENDPOINT: otel.url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${otel.key}`,
    OTEL_SERVICE_NAME: 'weather',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    LANGFUSE_BASE_URL: otel.url,
    LANGFUSE_PUBLIC_KEY: 'public',
    LANGFUSE_SECRET_KEY: otel.key,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    NO_PROXY: '127.0.0.1',
  };
  try {
    const isPython = PYTHON.includes(name);
    const program = isPython ? await pythonWith(path.join(home, `${name}.txt`)) : process.execPath;
    const args = isPython ? [path.join(home, `run_${name.replaceAll('-', '_')}.py`)] : await nodeArgs(name);
    const { code, output } = await run(program, args, { env });
    if (code !== 0 || !output.includes('21 degrees')) throw new Error(`${name} has failed. ${output}`);
    return { calls, port: model.port };
  } finally {
    await model.close();
  }
}

async function nodeArgs(name: string): Promise<string[]> {
  // Packages are resolved relative to the importing file.
  const modules = await installedTools('instrumentations');
  const file = path.join(path.dirname(modules), 'run-ai-sdk.mjs');
  copyFileSync(path.join(home, 'run-ai-sdk.mjs'), file);
  return [file, ...NODE[name as keyof typeof NODE]];
}

const sum = (calls: readonly (typeof USAGE)[number][]) =>
  calls.reduce(
    (all, { input, output, cached, reasoning }) => ({
      calls: all.calls + 1,
      input: all.input + input,
      output: all.output + output,
      cached_input: all.cached_input + cached,
      reasoning: all.reasoning + reasoning,
    }),
    { calls: 0, input: 0, output: 0, cached_input: 0, reasoning: 0 },
  );

const { values, positionals } = parseArgs({
  options: { into: { type: 'string' }, key: { type: 'string' } },
  allowPositionals: true,
});
for (const name of positionals.length > 0 ? positionals : [...PYTHON, ...Object.keys(NODE)]) {
  const sink = await startSink();
  try {
    const { calls, port } = await runOne(name, { url: values.into ?? sink.url, key: values.key ?? 'key' });
    const billed = sum(calls);
    if (values.into === undefined) {
      const text = JSON.stringify({ billed, request: decoded(sink.bodies) }, null, 1);
      writeFileSync(path.join(fixtures, `${name}.json`), `${text.replaceAll(String(port), '8080')}\n`);
    }
    console.log(name, JSON.stringify(billed));
  } finally {
    sink.close();
  }
}
