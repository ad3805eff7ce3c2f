import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { RPC_STATUS } from '../../../src/domain/traces/otlp/schema.ts';
import { longestBlock } from '../../support/event-loop.ts';
import { createCall, startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { modelCall, newSpanId, newTraceId, requestOf, send, span, stepsOf } from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ QUOTA_EXECUTION_BYTES: '64MiB' }, { workers: false });
});
afterAll(() => service?.stop());

const JSON_TYPE = { 'Content-Type': 'application/json' };
const PROTOBUF = { 'Content-Type': 'application/x-protobuf' };
const body = () => JSON.stringify(requestOf([span({ traceId: newTraceId() })]));
const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) =>
  service.call('POST', '/traces', { raw, headers });
const gzipped = (text: string | Buffer) => new Uint8Array(gzipSync(text));

describe('exporters get, by OTLP,', () => {
  test('200 and an empty message if accepted, compressed or not', async () => {
    for (const [raw, headers] of [
      [body(), JSON_TYPE],
      [gzipped(body()), { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
      [body(), { 'Content-Type': 'application/json; charset=utf-8', 'Content-Encoding': 'identity' }],
      [new Uint8Array(), PROTOBUF],
      ['{}', JSON_TYPE],
    ] as const) {
      const answer = await post(raw, headers);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
        200,
        headers === PROTOBUF ? 'application/x-protobuf' : expect.stringContaining('application/json'),
      ]);
      expect(answer.body).toEqual(headers === PROTOBUF ? '' : {});
    }
  });

  test('400 with a gRPC status in the type of the request if it must not be repeated', async () => {
    const bomb = gzipped(Buffer.alloc(64 * 1024 * 1024, ' '));
    const gzip = { 'Content-Encoding': 'gzip' };
    for (const [raw, headers] of [
      ['nonsense', JSON_TYPE],
      ['[]', JSON_TYPE],
      ['"text"', JSON_TYPE],
      ['', JSON_TYPE],
      [body(), { 'Content-Type': 'text/plain' }],
      [body(), {}],
      [body(), { ...JSON_TYPE, 'Content-Encoding': 'br' }],
      [body(), { ...JSON_TYPE, ...gzip }],
      [gzipped(body()).subarray(0, 40), { ...JSON_TYPE, ...gzip }],
      [bomb, { ...JSON_TYPE, ...gzip }],
      [`{"resourceSpans": [], "x": "${'x'.repeat(9 * 1024 * 1024)}"}`, JSON_TYPE],
      [JSON.stringify(requestOf([{ ...span({ traceId: 'short' }), spanId: 'x' }])), JSON_TYPE],
    ] as const) {
      const answer = await post(raw, headers);
      expect([String(raw).slice(0, 20), answer.status, answer.body]).toEqual([
        String(raw).slice(0, 20),
        400,
        { code: 3, message: expect.any(String) },
      ]);
    }
    for (const [raw, headers] of [
      [new Uint8Array([255, 255, 255]), PROTOBUF],
      [bomb, { ...PROTOBUF, ...gzip }],
    ] as const) {
      const response = await request(`${service.origin}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${service.key}` },
        body: raw,
      });
      const message = RPC_STATUS.decode(new Uint8Array(await response.body.arrayBuffer()));
      expect([response.statusCode, response.headers['content-type']]).toEqual([400, 'application/x-protobuf']);
      expect(message).toMatchObject({ code: 3, message: expect.any(String) });
    }
  });

  test('the refused spans and why, while the others are stored', async () => {
    const traceId = newTraceId();
    const now = Date.now();
    const answer = await send(service.call, [
      span({ traceId }),
      span({ traceId, at: now + 60 * 60_000 }),
      span({ traceId, at: now - 40 * 24 * 60 * 60_000 }),
      { ...span({ traceId }), spanId: '0000000000000000' },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.body.partialSuccess.rejectedSpans).toBe('3');
    expect(answer.body.partialSuccess.errorMessage).toContain('in the future');
    expect(await stepsOf(service, traceId)).toHaveLength(1);
  });

  test('400 for a full quota, so that it is not retried', async () => {
    const { call } = await createOtherWorkspace(service, 'full');
    const text = 'x'.repeat(240_000);
    let answer = await send(call, []);
    for (let index = 0; index < 100 && answer.status === 200; index += 1)
      answer = await send(
        call,
        Array.from({ length: 12 }, () => span({ traceId: newTraceId(), attributes: { 'input.value': text } })),
      );
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 8, message: expect.stringContaining('QUOTA_EXECUTION_BYTES') },
    });
  });
});

describe('senders of traces', () => {
  test('use keys with ingest or execute, by Bearer, or by Basic', async () => {
    const [ingest, execute, read] = [
      await createKey(service, 'ingest'),
      await createKey(service, 'execute'),
      await createKey(service, 'read'),
    ];
    const basic = (password: string) => ({
      ...JSON_TYPE,
      Authorization: `Basic ${Buffer.from(`user:${password}`).toString('base64')}`,
    });
    const sent = async (path: string, headers: Record<string, string>) => {
      const response = await request(`${service.origin}${path}`, { method: 'POST', headers, body: body() });
      return [response.statusCode, await response.body.json()];
    };
    const bearer = (key: string) => ({ ...JSON_TYPE, Authorization: `Bearer ${key}` });
    for (const path of ['/v1/traces', '/v1/otel/v1/traces', '/api/public/otel/v1/traces']) {
      for (const headers of [bearer(ingest.key), bearer(execute.key), basic(ingest.key)])
        expect([path, ...(await sent(path, headers))]).toEqual([path, 200, {}]);
      expect(await sent(path, bearer(read.key))).toMatchObject([401, { code: 7 }]);
      for (const headers of [
        JSON_TYPE,
        bearer('pms_wrong'),
        basic('pms_wrong'),
        { ...JSON_TYPE, Authorization: 'Basic !' },
      ])
        expect(await sent(path, headers)).toMatchObject([401, { code: 16 }]);
    }
    const ingestOnly = createCall(service.origin, ingest.key);
    expect((await ingestOnly('GET', '/traces')).status).toBe(401);
    expect((await ingestOnly('GET', '/prompts')).status).toBe(401);
    // Only this operation accepts a key as a password.
    expect((await service.call('GET', '/traces', { headers: basic(service.key), key: null })).status).toBe(401);
    const now = new Date().toISOString();
    const records = [{ model: 'openai/gpt-4o-mini', input: 'x', output: 'y', started_at: now, finished_at: now }];
    expect((await ingestOnly('POST', '/executions/record', { body: { records } })).status).toBe(201);
  });

  test('cannot send logs or metrics', async () => {
    for (const path of ['/logs', '/metrics', '/otel/v1/logs'])
      expect([path, (await service.call('POST', path, { raw: '{}', headers: JSON_TYPE })).status]).toEqual([path, 404]);
  });
});

describe('any input', () => {
  /** A body with random changes. */
  function spoilt(text: string, random: () => number): string {
    const at = () => Math.floor(random() * text.length);
    let changed = text;
    for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) {
      const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
      const kind = Math.floor(random() * 4);
      if (kind === 0) changed = changed.slice(0, from) + changed.slice(from + 1 + Math.floor(random() * 5));
      if (kind === 1)
        changed = changed.slice(0, from) + String.fromCharCode(32 + Math.floor(random() * 90)) + changed.slice(from);
      if (kind === 2)
        changed = changed.slice(0, from) + changed.slice(from, Math.min(to, from + 60)) + changed.slice(from);
      if (kind === 3)
        changed = changed.replace(
          /"[^"]{0,40}"/,
          ['null', '[]', '{}', '1e400', '-1', '"\\u0000"', '"\\ud800"', 'true'][Math.floor(random() * 8)] ?? '',
        );
    }
    return changed;
  }

  test('is refused or stored, and never a service error', async () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    const statuses = new Map<number, number>();
    for (let index = 0; index < 400; index += 1) {
      const traceId = newTraceId();
      const whole = JSON.stringify(
        requestOf([
          span({ traceId, attributes: modelCall(5, 5, { 'user.id': 'ada' }) }),
          span({ traceId, error: 'x' }),
        ]),
      );
      const { status, body: answer } = await post(spoilt(whole, random));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status !== 200 && status !== 400) throw new Error(`${status} ${JSON.stringify(answer)}`);
    }
    expect(new Set(statuses.keys())).toEqual(new Set([200, 400]));
  });

  test('is kept in its trace, even if texts are long, odd or missing', async () => {
    const traceId = newTraceId();
    const odd = [
      modelCall(1e12, -5, { 'gen_ai.request.model': 'ü/"\'\\ \n', 'gen_ai.provider.name': '/' }),
      modelCall(1, 1, { 'gen_ai.request.model': '', 'gen_ai.usage.cost': 'free' }),
      modelCall(1, 1, {
        'gen_ai.input.messages': '"'.repeat(300_000),
        'gen_ai.output.messages': '\u0001'.repeat(300_000),
      }),
      modelCall(1, 1, { 'gen_ai.input.messages': JSON.stringify(Array.from({ length: 60_000 }, () => ({}))) }),
      { 'gen_ai.operation.name': 'chat' },
    ];
    const answer = await send(service.call, [
      ...odd.map((attributes) => span({ traceId, attributes })),
      span({ traceId, ms: 30 * 24 * 60 * 60_000, attributes: modelCall(1, 1) }),
      span({ traceId, ms: -5_000, attributes: modelCall(1, 1) }),
    ]);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    const steps = await stepsOf(service, traceId);
    expect(steps.filter(({ execution_id: id }) => id !== null)).toHaveLength(7);
  });

  test('of 4 MiB at once does not delay others for long', async () => {
    const { call } = await createOtherWorkspace(service, 'large');
    const text = 'words and words '.repeat(80);
    const spans = (count: number) => {
      const traceId = newTraceId();
      return Array.from({ length: count }, (_, index) =>
        span({
          traceId,
          attributes:
            index % 3 === 0
              ? modelCall(5, 5, { 'gen_ai.input.messages': text, 'gen_ai.output.messages': text })
              : { 'input.value': text, 'output.value': text },
        }),
      );
    };
    const raw = () => gzipped(JSON.stringify(requestOf(spans(1_450))));
    expect(JSON.stringify(requestOf(spans(1_450))).length).toBeGreaterThan(4 * 1024 * 1024);
    const bodies = [raw(), raw(), raw(), raw()];
    const { blockMs } = await longestBlock(
      () =>
        call('POST', '/traces', { raw: bodies.pop() ?? raw(), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } }),
      60,
    );
    expect(blockMs).toBeLessThan(60);
  });

  test('of 9,000 traces is stored as one of few traces is', async () => {
    const { call } = await createOtherWorkspace(service, 'many traces');
    const spans = Array.from({ length: 9_000 }, () => span({ traceId: newTraceId() }));
    const answer = await send(call, spans);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    const { body } = await call('GET', '/traces/facets');
    expect(body).toMatchObject({ counted: 9_000, complete: true });
  });

  test('beyond the turns of a workspace leaves others theirs', async () => {
    const { call } = await createOtherWorkspace(service, 'greedy');
    const large = requestOf(Array.from({ length: 2_000 }, () => span({ traceId: newTraceId(), id: newSpanId() })));
    let done = 0;
    const greedy = Array.from({ length: 6 }, () => call('POST', '/traces', { body: large }).finally(() => (done += 1)));
    const answer = await send(service.call, [span({ traceId: newTraceId() })]);
    expect([answer.status, done]).toEqual([200, expect.any(Number)]);
    expect(done).toBeLessThan(3);
    for (const { status } of await Promise.all(greedy)) expect([200, 503]).toContain(status);
  });
});
