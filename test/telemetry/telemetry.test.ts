import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Collector, startCollector } from '../support/collector.ts';
import { createTestDatabase } from '../support/database.ts';
import { behave } from '../support/fault-stage.ts';
import { freePorts, killOrphans, PROJECT, type Started, startProcess } from '../support/processes.ts';
import {
  createTestEnvironment,
  makePrompt,
  type Place,
  type ProviderProcess,
  startProvider,
} from '../support/processes-service.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SERVER = 2;
const CLIENT = 3;
const FAILED = 2;
const LOG_PACKAGES = fileURLToPath(new URL('../support/log-packages.mjs', import.meta.url));

let place: Place;
let openai: ProviderProcess;
let database: { url: string; drop(): Promise<void> };
let collector: Collector;
/** Processes started by the current test. */
let processes: Started[] = [];

interface Processes {
  api: Started;
  worker: Started;
  /** Stops both as an operator does. */
  stop(): Promise<string>;
}

/** The API and a worker, each a separate process. */
async function startBoth(env: Record<string, string>): Promise<Processes> {
  const start = async (script: string, isUp: RegExp, more: Record<string, string> = {}) => {
    const command = [process.execPath, '--import', LOG_PACKAGES, path.join(PROJECT, script)];
    const started = startProcess(command, { env: { ...place.env, ...env, ...more } });
    processes.push(started);
    await started.says(isUp);
    return started;
  };
  const [api, worker] = await Promise.all([
    start('src/api/server.ts', /API listening on/),
    start('src/worker.ts', /workers started/, { METRICS_PORT: '0' }),
  ]);
  return {
    api,
    worker,
    async stop() {
      const all = [api, worker];
      for (const each of all) each.kill('SIGTERM');
      const ended = await Promise.all(all.map((each) => each.ended));
      const output = ended.map((each) => each.output).join('\n');
      expect({ codes: ended.map(({ code }) => code), output }).toEqual({ codes: [0, 0], output });
      return output;
    },
  };
}

/** Settings for frequent exports. */
const soon = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_METRIC_EXPORT_INTERVAL: '500',
  OTEL_METRIC_EXPORT_TIMEOUT: '500',
});

async function runGreeting(name: string, headers: Record<string, string> = {}, promptName = 'greet') {
  const body = { prompt_name: promptName, variables: { name } };
  const answer = await place.call('POST', '/executions', { body, headers });
  expect(answer.status).toBe(201);
  return answer.body;
}

const spanOf = (executionId: string) =>
  collector.span(`of the call of ${executionId}`, ({ attributes }) => attributes['pms.execution.id'] === executionId);
const spanWithId = (id: string | undefined) => collector.span(`with the id ${id}`, ({ spanId }) => spanId === id);

beforeAll(async () => {
  [database, openai, collector] = await Promise.all([
    createTestDatabase(),
    startProvider('openai', ['--tokens', '21', '--answer', 'Good-evening-to-you']),
    startCollector(),
  ]);
  place = await createTestEnvironment({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_TASK_QUEUE_PREFIX: `otel-${randomBytes(4).toString('hex')}`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    OPENAI_API_KEY: 'sk-e2e',
    OPENAI_BASE_URL: openai.baseUrl,
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
  });
});
afterEach(async () => {
  await Promise.all(processes.map((each) => each.killTree()));
  processes = [];
});
afterAll(async () => {
  await killOrphans();
  await collector?.close();
  await database?.drop();
  await place?.remove();
});

test('from the request to the call of the model, the trace of the caller continues', async () => {
  const both = await startBoth({ ...soon(), OTEL_SERVICE_NAME: 'greetings' });
  await makePrompt(place.call, 'greet', 'openai/gpt-4o-mini');
  const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
  const { id } = await runGreeting('Ada-Lovelace', { traceparent });

  const call = await spanOf(id);
  expect(call).toMatchObject({ traceId: TRACE_ID, kind: CLIENT, name: 'chat gpt-4o-mini' });
  expect(call.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.response.model': expect.stringContaining('gpt-4o-mini'),
    'gen_ai.usage.input_tokens': 21,
    'gen_ai.usage.output_tokens': 21,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.prompt.name': 'greet',
    'gen_ai.prompt.version': '1',
    'pms.workspace.id': expect.stringMatching(/^ws_/),
  });
  expect(call.resource).toMatchObject({ 'service.name': 'greetings', 'service.version': expect.any(String) });

  const activity = await spanWithId(call.parentSpanId);
  const start = await spanWithId(activity.parentSpanId);
  const request = await spanWithId(start.parentSpanId);
  expect(activity).toMatchObject({ name: 'RunActivity:callModel', traceId: TRACE_ID });
  expect(start).toMatchObject({ name: 'StartWorkflow:executePrompt', kind: CLIENT, traceId: TRACE_ID });
  expect(start.attributes['temporal.workflow.id']).toBe(`execute-prompt/${id}`);
  expect(request).toMatchObject({ name: 'POST /v1/executions', kind: SERVER, parentSpanId: PARENT_ID });
  expect(request.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/executions',
    'http.response.status_code': 201,
    'url.path': '/v1/executions',
    'pms.workspace.id': call.attributes['pms.workspace.id'],
  });

  await place.call('GET', `/executions/${id}?secret=in-the-query`);
  const read = await collector.span('of a read', ({ name }) => name === 'GET /v1/executions/{id}');
  expect(read.traceId).not.toBe(TRACE_ID);

  await behave(openai, { mode: 'fail', status: 401 });
  const failed = await runGreeting('Bertrand-Russell');
  const failedCall = await spanOf(failed.id);
  expect(failed.status).toBe('failed');
  expect(failedCall.status.code).toBe(FAILED);
  expect(failedCall.attributes['error.type']).toBe('model_authentication');
  await behave(openai, {});

  const tokens = await until('both kinds of tokens', async () => {
    const { histogram } = await collector.metric('gen_ai.client.token.usage');
    return histogram?.dataPoints.length === 2 && histogram.dataPoints;
  });
  const sums = tokens.map(({ attributes, sum }) => [attributes['gen_ai.token.type'], sum] as const);
  expect(new Map(sums)).toEqual(
    new Map([
      ['input', 21],
      ['output', 21],
    ]),
  );
  expect(tokens[0]?.explicitBounds.slice(0, 4)).toEqual([1, 4, 16, 64]);
  expect(tokens[0]?.attributes).toMatchObject({ 'gen_ai.provider.name': 'openai', 'gen_ai.operation.name': 'chat' });
  const durations = await until('the durations of both', async () => {
    const { histogram, unit } = await collector.metric('gen_ai.client.operation.duration');
    return histogram?.dataPoints.length === 2 && { points: histogram.dataPoints, unit };
  });
  expect(durations.unit).toBe('s');
  expect(durations.points.map(({ attributes }) => attributes['error.type'])).toContain('model_authentication');
  expect(durations.points[0]?.explicitBounds[0]).toBe(0.01);

  // An evaluation is a separate trace, linked to the request that started it.
  const items = { variables: { name: 'Grace-Hopper' }, expected: 'Good-evening-to-you' };
  const made = await place.call('POST', '/evaluations', {
    headers: { traceparent: `00-${TRACE_ID.replace('4', '5')}-${PARENT_ID}-01` },
    body: { prompt_name: 'greet', examples: [items], evaluators: [{ type: 'exact_match' }] },
  });
  expect(made).toMatchObject({ status: 201 });
  const example = await collector.span(
    'of an example',
    ({ name, attributes }) => name.startsWith('chat') && attributes['pms.evaluation.id'] === made.body.id,
  );
  expect(example.attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet', 'gen_ai.prompt.version': '1' });
  const scored = await spanWithId(example.parentSpanId);
  expect(scored).toMatchObject({ name: 'run example', attributes: { 'pms.evaluation.example': 0 } });
  expect(scored.events).toEqual([
    {
      name: 'gen_ai.evaluation.result',
      attributes: { 'gen_ai.evaluation.name': 'exact_match', 'gen_ai.evaluation.score.value': 1 },
    },
  ]);
  const batch = await spanWithId(scored.parentSpanId);
  expect(batch).toMatchObject({ name: 'RunActivity:runBatch', links: [{ traceId: TRACE_ID.replace('4', '5') }] });
  expect(batch.parentSpanId ?? '').toBe('');

  // A delivery: receivers get nothing of the trace.
  const receiver = await startReceiver();
  const webhook = await place.call('POST', '/webhooks', {
    body: { url: `${receiver.url}?token=of-the-receiver`, events: ['execution.completed'] },
  });
  expect(webhook).toMatchObject({ status: 201 });
  const told = await runGreeting('Alan-Turing', { traceparent });
  const [delivered] = await receiver.got(1);
  const sent = await collector.span('of a delivery', ({ attributes }) => attributes['pms.delivery.id'] !== undefined);
  // It continues the trace of the reported run.
  const toldCall = await spanOf(told.id);
  expect(sent).toMatchObject({ name: 'POST', kind: CLIENT, traceId: TRACE_ID, parentSpanId: toldCall.parentSpanId });
  expect(sent.attributes).toMatchObject({
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'pms.event.id': delivered?.headers['x-event-id'],
  });
  expect(Object.keys(delivered?.headers ?? {})).not.toContain('traceparent');
  await place.call('DELETE', `/webhooks/${webhook.body.id}`);
  await receiver.close();

  expect(await both.stop()).toContain('loads @opentelemetry/sdk-node');
  for (const content of ['Ada-Lovelace', 'Good-evening', 'Grace-Hopper', 'in-the-query', 'of-the-receiver', 'sk-e2e'])
    expect(collector.text()).not.toContain(content);
});

test('prompts and answers are sent on request, and the rest is sent when a process stops', async () => {
  const env = { ...soon(), OTEL_BSP_SCHEDULE_DELAY: '3600000', OTEL_METRICS_EXPORTER: 'none' };
  const both = await startBoth({ ...env, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  const { id } = await runGreeting('Barbara-Liskov');
  const ofIt = () => collector.spans.filter(({ attributes }) => attributes['pms.execution.id'] === id);
  expect(ofIt()).toEqual([]);
  await both.stop();
  const [call] = ofIt();
  expect(JSON.parse(String(call?.attributes['gen_ai.input.messages']))).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'Greet Barbara-Liskov.' }] },
  ]);
  expect(JSON.parse(String(call?.attributes['gen_ai.output.messages']))).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'Good-evening-to-you' }], finish_reason: 'stop' },
  ]);
});

const deliveriesOf = (event: string | undefined) =>
  collector.spans.filter(({ attributes }) => attributes['pms.event.id'] === event);

test('retries of a delivery stay in the trace of its event; a redelivery begins one, with a link', async () => {
  const both = await startBoth({ ...soon(), WEBHOOK_RETRY_WAITS: '1s,1s' });
  let isBroken = true;
  const receiver = await startReceiver((_, response) => void response.writeHead(isBroken ? 500 : 200).end());
  const webhook = await place.call('POST', '/webhooks', {
    body: { url: receiver.url, events: ['execution.completed'] },
  });
  const traceparent = `00-${TRACE_ID.replace('4', '6')}-${PARENT_ID}-01`;
  await runGreeting('Emmy-Noether', { traceparent });
  const [first] = await receiver.got(1);
  isBroken = false;
  await receiver.got(2);
  const event = String(first?.headers['x-event-id']);
  const delivery = String(first?.headers['x-delivery-id']);
  const attempts = await until('both attempts', async () => {
    const all = deliveriesOf(event);
    return all.length === 2 && all;
  });
  expect(attempts.map(({ traceId }) => traceId)).toEqual(Array(2).fill(TRACE_ID.replace('4', '6')));
  expect(attempts.map(({ attributes }) => attributes['pms.delivery.attempt'])).toEqual([1, 2]);
  expect(attempts[0]).toMatchObject({ status: { code: FAILED }, attributes: { 'http.response.status_code': 500 } });

  await until('the end of the delivery', async () => {
    const { body } = await place.call('GET', `/deliveries/${delivery}`);
    return body.status === 'delivered';
  });
  const again = await place.call('POST', `/deliveries/${delivery}/redeliver`);
  expect(again.status).toBe(201);
  await receiver.got(3);
  const redelivery = await collector.span(
    'of the redelivery',
    ({ attributes }) =>
      attributes['pms.event.id'] === event && !attempts.some((each) => each.attributes === attributes),
  );
  expect(redelivery.parentSpanId ?? '').toBe('');
  expect(redelivery.traceId).not.toBe(TRACE_ID.replace('4', '6'));
  expect(redelivery.links).toMatchObject([{ traceId: TRACE_ID.replace('4', '6'), spanId: attempts[0]?.parentSpanId }]);
  expect(receiver.received.flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent');
  await place.call('DELETE', `/webhooks/${webhook.body.id}`);
  await receiver.close();
  await both.stop();
});

test('scores by a rule are events of a span; its texts are sent on request', async () => {
  const both = await startBoth({ ...soon(), OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  await makePrompt(place.call, 'greet-politely', 'openai/gpt-4o-mini');
  const rule = await place.call('PUT', '/rules/manners', {
    body: {
      prompt_name: 'greet-politely',
      evaluators: [
        { type: 'contains', name: 'thanks', value: 'Thank' },
        { type: 'llm_judge', name: 'tone', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' },
      ],
    },
  });
  expect(rule.status).toBe(200);
  const { id } = await runGreeting('Hedy-Lamarr', {}, 'greet-politely');
  const scored = await collector.span(
    'of what is scored',
    ({ name, attributes }) => name === 'score execution' && attributes['pms.execution.id'] === id,
  );
  expect(scored.attributes).toMatchObject({ 'pms.rule.name': 'manners', 'pms.workspace.id': expect.any(String) });
  const events = scored.events.map(({ name, attributes }) => [name, attributes['gen_ai.evaluation.name'], attributes]);
  expect(events).toHaveLength(2);
  expect(events).toContainEqual([
    'gen_ai.evaluation.result',
    'thanks',
    {
      'gen_ai.evaluation.name': 'thanks',
      'gen_ai.evaluation.score.value': 0,
      'gen_ai.evaluation.explanation': expect.stringContaining('Thank'),
    },
  ]);
  // The judge has responded like the model: that is not a score.
  const judgement = events.find(([, evaluator]) => evaluator === 'tone')?.[2];
  expect(judgement).toMatchObject({ 'error.type': 'unusable_judgement' });
  expect(judgement).not.toHaveProperty(['gen_ai.evaluation.score.value']);
  const judged = collector.spans.filter(({ parentSpanId }) => parentSpanId === scored.spanId);
  expect(judged.map(({ name }) => name)).toContain('chat gpt-4o-mini');
  await place.call('DELETE', '/rules/manners');
  await both.stop();
});

test('a batch at a provider is a handful of spans in the trace of its origin, and its usage is counted', async () => {
  const both = await startBoth(soon());
  await makePrompt(place.call, 'greet-many', 'openai/gpt-4o-mini');
  const traceId = TRACE_ID.replace('4', '7');
  await fetch(new URL('/__batches', openai.baseUrl), { method: 'POST', body: JSON.stringify({ completeMs: 1_500 }) });
  const examples = Array.from({ length: 5 }, (_, n) => ({ variables: { name: `Batched-${n}` }, expected: 'x' }));
  const made = await place.call('POST', '/evaluations', {
    headers: { traceparent: `00-${traceId}-${PARENT_ID}-01` },
    body: { prompt_name: 'greet-many', examples, evaluators: [{ type: 'exact_match' }], mode: 'batch' },
  });
  expect(made).toMatchObject({ status: 201 });
  await until('the end of the evaluation', async () => {
    const { body } = await place.call('GET', `/evaluations/${made.body.id}`);
    return body.status === 'completed';
  });
  const imported = await collector.span('of the import', ({ name }) => name === 'batch.import gpt-4o-mini');
  expect(imported).toMatchObject({ traceId, kind: CLIENT, attributes: { 'pms.batch.responded': 5 } });
  const ofBatch = collector.spans.filter(({ attributes }) => attributes['pms.batch.id'] !== undefined);
  expect(ofBatch.map(({ name }) => name.split(' ')[0])).toEqual(expect.arrayContaining(['batch.submit', 'batch.poll']));
  expect(new Set(ofBatch.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(ofBatch.length).toBeLessThan(8);
  const scores = await until('the scores', async () => {
    const all = collector.spans.filter(({ attributes }) => attributes['pms.evaluation.id'] === made.body.id);
    return all.length === 5 && all;
  });
  expect(scores.flatMap(({ events }) => events)).toHaveLength(5);
  await both.stop();
});

test('an unreachable collector causes only a line in the log', async () => {
  const [port] = await freePorts(1);
  const both = await startBoth({ ...soon(), OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  for (const name of ['one', 'two', 'three']) expect(await runGreeting(name)).toMatchObject({ status: 'completed' });
  await both.worker.says(/"from":"opentelemetry"/);
  expect(await both.stop()).not.toMatch(/could not stop|unhandled|"level":[56]0/);
});

test('a collector that never answers delays no execution, and a process end for a few seconds at most', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const called = once(silent, 'connection');
  const endless = { OTEL_EXPORTER_OTLP_TIMEOUT: '3600000', OTEL_BSP_EXPORT_TIMEOUT: '3600000' };
  const both = await startBoth({ ...soon(), ...endless, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  for (const name of ['one', 'two', 'three']) expect(await runGreeting(name)).toMatchObject({ status: 'completed' });
  await called;
  const begunAt = performance.now();
  expect(await both.stop()).not.toMatch(/could not stop|unhandled|"level":[56]0/);
  // Without a limit it would take an hour.
  expect(performance.now() - begunAt).toBeLessThan(60_000);
  silent.close();
});

test.each([
  ['nothing says where to', () => ({})],
  ['the SDK is disabled', () => ({ ...soon(), OTEL_SDK_DISABLED: 'true' })],
])('if %s, nothing is sent and the SDK is not loaded', async (_, env) => {
  const before = collector.requests();
  const both = await startBoth(env());
  const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
  expect(await runGreeting('Ada', { traceparent })).toMatchObject({ status: 'completed' });
  const output = await both.stop();
  expect(output).toContain('loads @opentelemetry/api');
  expect([...output.matchAll(/^loads (.*)$/gm)].map(([, name]) => name)).toEqual([
    '@opentelemetry/api',
    '@opentelemetry/api',
  ]);
  expect(collector.requests()).toBe(before);
});
