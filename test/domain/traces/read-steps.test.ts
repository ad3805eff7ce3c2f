import { describe, expect, test } from '@jest/globals';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import protobuf from 'protobufjs/light.js';
import { MAX_SPANS, MAX_STEP_BYTES, MAX_STEP_TEXT_BYTES } from '../../../src/domain/traces/limits.ts';
import { exportResponse, statusResponse } from '../../../src/domain/traces/otlp/responses.ts';
import { RESPONSE, RPC_STATUS } from '../../../src/domain/traces/otlp/schema.ts';
import { isRefusal, readSteps } from '../../../src/domain/traces/read-steps.ts';
import {
  BEGIN,
  fixture,
  readBody,
  readJson,
  requestWith,
  spanWith,
  stepWith,
  toKeyValues,
  toProtobuf,
} from './traces-support.ts';

const TIMES = { now: BEGIN, oldest: BEGIN - 1_000_000 };
const faultOf = (body: Buffer, encoding: 'protobuf' | 'json') => {
  const read = readSteps(body, encoding, TIMES);
  return 'fault' in read ? read.fault : undefined;
};

describe('a request', () => {
  test('of OpenTelemetry’s own serializer is read', () => {
    const time: [number, number] = [BEGIN / 1_000, 123_456_789];
    const context = { traceId: '0123456789abcdef0123456789abcdef', spanId: '0123456789abcdef', traceFlags: 1 };
    const span = {
      name: 'chat',
      kind: 2,
      spanContext: () => context,
      parentSpanContext: { ...context, spanId: 'fedcba9876543210' },
      startTime: time,
      endTime: [BEGIN / 1_000, 223_456_789],
      status: { code: 2, message: 'too slow' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 3,
        list: [1.5, 2.5],
        'error.type': 'timeout',
      },
      links: [{ context: { ...context, traceId: 'f'.repeat(32) }, attributes: { a: true } }],
      events: [{ name: 'retry', time, attributes: { attempt: 2 } }],
      resource: { attributes: { 'service.name': 'shop' }, asyncAttributesPending: false },
      instrumentationScope: { name: 'library', version: '2' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
    const body = ProtobufTraceSerializer.serializeRequest([span as never]);
    const { steps, refused } = readBody(Buffer.from(body ?? []), 'protobuf', { now: BEGIN + 60_000, oldest: 0 });
    expect(refused).toEqual([]);
    expect(steps).toMatchObject([
      {
        traceId: context.traceId,
        id: context.spanId,
        parentId: 'fedcba9876543210',
        type: 'model',
        name: 'chat',
        status: 'error',
        error: 'too slow',
        errorType: 'timeout',
        startedAt: BEGIN * 1_000 + 123_456,
        endedAt: BEGIN * 1_000 + 223_456,
        tokens: { input: 3, output: 0 },
        attributes: { list: [1.5, 2.5] },
        links: [{ traceId: 'f'.repeat(32), spanId: context.spanId, attributes: { a: true } }],
        events: [{ name: 'retry', at: BEGIN * 1_000 + 123_456, attributes: { attempt: 2 } }],
        service: 'shop',
        scope: { name: 'library', version: '2' },
      },
    ]);
  });

  test('can have names of enums, ids in upper case, numbers as texts and unknown fields', () => {
    const span = spanWith(
      {},
      { traceId: '0123456789ABCDEF0123456789ABCDEF', status: { code: 'STATUS_CODE_ERROR' }, flags: 1, more: {} },
    );
    const request = { ...requestWith(span), unknown: [1] };
    expect(readJson(request).steps).toMatchObject([{ traceId: '0123456789abcdef0123456789abcdef', status: 'error' }]);
    const numbers = [
      { key: 'big', value: { intValue: '9007199254740993' } },
      { key: 'small', value: { intValue: 7 } },
      { key: 'nan', value: { doubleValue: 'NaN' } },
      { key: 'bytes', value: { bytesValue: 'AAE=' } },
      { key: 'none', value: {} },
      { key: '__proto__', value: { stringValue: 'a' } },
    ];
    const { attributes } = stepWith({}, { attributes: numbers });
    expect(Object.entries(attributes)).toEqual([
      ['big', '9007199254740993'],
      ['small', 7],
      ['nan', 'NaN'],
      ['bytes', 'AAE='],
      ['none', null],
      ['__proto__', 'a'],
    ]);
  });

  test('explains its errors', () => {
    expect(faultOf(Buffer.from('{'), 'json')).toMatch(/is not an ExportTraceServiceRequest in JSON/);
    expect(faultOf(Buffer.from('[]'), 'json')).toMatch(/must be an ExportTraceServiceRequest/);
    expect(faultOf(Buffer.from('null'), 'json')).toMatch(/must be an ExportTraceServiceRequest/);
    expect(faultOf(Buffer.from([0x0a, 0xff]), 'protobuf')).toMatch(/is not an ExportTraceServiceRequest in protobuf/);
    expect(faultOf(Buffer.from('{"a":1}'), 'protobuf')).toBeDefined();
  });

  test('has a limit of spans and values', () => {
    expect(faultOf(Buffer.from(JSON.stringify(requestWith(...Array(MAX_SPANS + 1).fill(0)))), 'json')).toMatch(
      /has 10001 spans/,
    );
    expect(faultOf(Buffer.from(JSON.stringify({ a: Array(300_001).fill(0) })), 'json')).toMatch(
      /more than 300000 values/,
    );
    // Millions of empty messages of two bytes each, at various levels.
    const empty = (tag: number) => Buffer.from(Array.from({ length: 2_000_000 }, (_, at) => (at % 2 === 0 ? tag : 0)));
    expect(faultOf(empty(0x0a), 'protobuf')).toMatch(/more than 300000 values/);
    const within = (tag: number, inner: Buffer) => {
      const length = protobuf.Writer.create().uint32(inner.length).finish();
      return Buffer.concat([Buffer.from([tag]), length, inner]);
    };
    const spans = within(0x0a, within(0x12, within(0x12, empty(0x4a))));
    const read = readBody(spans, 'protobuf');
    expect(read).toMatchObject({ steps: [], refused: [{ reason: 'it has more than 40000 values' }] });
  });
});

describe('a span', () => {
  test('without valid ids or a start is refused alone', () => {
    const good = spanWith({});
    const { steps, refused } = readJson(
      requestWith(
        spanWith({}, { traceId: '0'.repeat(32) }),
        spanWith({}, { spanId: 'abc' }),
        spanWith({}, { startTimeUnixNano: '0' }),
        'nonsense',
        good,
      ),
    );
    expect(steps).toHaveLength(1);
    expect(refused.map(({ hasIds }) => hasIds)).toEqual([false, false, true, false]);
    expect(refused[0]?.id).toBe('resource_spans[0].scope_spans[0].spans[0]');
    expect(refused[2]).toEqual({
      id: '0123456789abcdef0123456789abcdef:0123456789abcdef',
      reason: 'it has no start time',
      hasIds: true,
    });
  });

  test('outside the retention is refused', () => {
    const at = (ms: number) => spanWith({}, { startTimeUnixNano: `${ms}000000`, endTimeUnixNano: `${ms}000000` });
    const body = Buffer.from(
      JSON.stringify(
        requestWith(at(BEGIN + 300_001), at(BEGIN + 300_000), at(BEGIN - 1_000_001), at(BEGIN - 1_000_000)),
      ),
    );
    const { steps, refused } = readBody(body, 'json', TIMES);
    expect(steps).toHaveLength(2);
    expect(refused.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('in the future'),
      expect.stringContaining('TRACE_RETENTION'),
    ]);
  });

  test('without an end is running, and one that ends before it starts took no time', () => {
    expect(stepWith({}, { endTimeUnixNano: undefined })).toMatchObject({ status: 'running', endedAt: null });
    expect(stepWith({}, { endTimeUnixNano: '0' })).toMatchObject({ status: 'running', endedAt: null });
    expect(stepWith({}, { endTimeUnixNano: '1000' })).toMatchObject({ status: 'ok', endedAt: BEGIN * 1_000 });
    expect(readJson(requestWith(spanWith({ 'logfire.span_type': 'pending_span' }))).ignored).toBe(1);
    expect(stepWith({}, { parentSpanId: '0123456789abcdef' }).parentId).toBeNull();
  });

  test('has storable texts', () => {
    const step = stepWith(
      {
        'a\u0000': 'b\u0000\ud800',
        'gen_ai.operation.name': 'chat',
        'input.value': '[{"role":"user","content":"a\\u0000"}]',
      },
      { name: 'c\u0000' },
    );
    expect(step).toMatchObject({
      name: 'c\ufffd',
      input: [{ role: 'user', content: 'a\ufffd' }],
      attributes: { 'a\ufffd': 'b\ufffd\ufffd' },
    });
  });

  test('is cut, and marks it', () => {
    const long = 'é'.repeat(MAX_STEP_TEXT_BYTES);
    const step = stepWith({ 'input.value': long, 'output.value': 'short', note: long, other: 'kept' });
    expect(step.cut).toEqual(['attributes.note', 'input']);
    expect(step.output).toBe('short');
    for (const text of [step.input, step.attributes['note']]) expect(text).toBe('é'.repeat(MAX_STEP_TEXT_BYTES / 2));
    expect(step.attributes['other']).toBe('kept');
  });

  test('has a size limit', () => {
    const texts = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`text${at}`, 'a'.repeat(200_000)]));
    const step = stepWith({ 'output.value': 'answer', ...texts });
    expect(step.output).toBe('answer');
    expect(Buffer.byteLength(JSON.stringify(step))).toBeLessThan(MAX_STEP_BYTES + 20_000);
    expect(step.cut).toContain('attributes');
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`a${at}`, at]));
    expect(Object.keys(stepWith(many).attributes)).toHaveLength(256);
    const events = Array.from({ length: 200 }, () => ({ name: 'e', timeUnixNano: '1', attributes: [] }));
    expect(stepWith({}, { events })).toMatchObject({ cut: ['events'], events: { length: 128 } });
  });

  test('loses its oldest messages first', () => {
    const messages = Array.from({ length: 10 }, (_, at) => ({ role: 'user', content: `${at}${'a'.repeat(200_000)}` }));
    const step = stepWith({ 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(messages) });
    expect(step.cut).toContain('input');
    expect(step.input).toMatchObject({ length: 6 });
    expect(Array.isArray(step.input) && step.input.at(-1)?.content.slice(0, 2)).toBe('9a');
  });

  test('can be deep', () => {
    let value: unknown = 'core';
    for (let depth = 0; depth < 32; depth += 1) value = [value];
    expect(JSON.stringify(stepWith({ value }).attributes['value'])).toContain('core');
    for (let depth = 0; depth < 20; depth += 1) value = [value];
    const step = stepWith({ value });
    expect(JSON.stringify(step.attributes['value'])).toContain('null');
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const name of ['gen_ai.input.messages', 'metadata', 'input.value', 'llm.invocation_parameters'])
      expect(stepWith({ 'gen_ai.operation.name': 'chat', [name]: text }).type).toBe('model');
    const name = `llm.input_messages.0${'.a'.repeat(100_000)}`;
    expect(stepWith({ 'gen_ai.operation.name': 'chat', [name]: 'a' }).type).toBe('model');
    const call = `[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":${JSON.stringify(text)}}}]}]`;
    expect(stepWith({ 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': call })).toMatchObject({
      toolCalls: [{ id: '1', name: 'a', input: text }],
      cut: [],
    });
  });

  test('can have JSON of many values, which stays text', () => {
    const names = JSON.stringify(Object.fromEntries(Array.from({ length: 21_000 }, (_, at) => [`a${at}`, 0])));
    const step = stepWith({ metadata: names, 'mlflow.chat.tokenUsage': names });
    expect(step).toMatchObject({ metadata: {}, tokens: null });
    expect(step.attributes['metadata'] === names).toBe(true);
  });

  test('shares its short resource with others', () => {
    const span = spanWith({});
    const request = requestWith(span, span);
    Object.assign((request['resourceSpans'] as { resource: unknown }[])[0] ?? {}, {
      resource: {
        attributes: toKeyValues({ 'service.name': 'shop', long: 'a'.repeat(100_000), after: 'b'.repeat(1_000) }),
      },
    });
    const { steps } = readJson(request);
    expect(Buffer.byteLength(JSON.stringify(steps[0]?.resource))).toBeLessThan(10_000);
    expect(steps[0]?.resource).toBe(steps[1]?.resource);
  });
});

/** The same numbers for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** PostgreSQL keeps neither U+0000 nor lone surrogates, which `JSON.stringify` escapes. */
function expectStorable(json: string): void {
  if (/\\u(0000|d[89a-f]..)/.test(json)) throw new Error(`It can't be stored: ${json}`);
}

/** Reads the whole body in any format. */
function drain(body: Buffer, encoding: 'protobuf' | 'json'): void {
  const read = readSteps(body, encoding, { now: BEGIN, oldest: 0 });
  if ('fault' in read) return;
  for (const step of read.steps) if (step !== null && !isRefusal(step)) expectStorable(JSON.stringify(step));
}

describe('nonsense is never an error', () => {
  const bodies = ['ai-sdk-legacy', 'langgraph', 'openllmetry'].map((name) => toProtobuf(fixture(name).request));

  test('bytes that were changed, cut and doubled', () => {
    const next = random(48);
    for (let round = 0; round < 3_000; round += 1) {
      const body = Buffer.from(bodies[round % bodies.length] ?? []);
      for (let change = 0; change < 1 + (round % 8); change += 1)
        body[Math.floor(next() * body.length)] = Math.floor(next() * 256);
      const end = next() < 0.3 ? Math.floor(next() * body.length) : body.length;
      drain(body.subarray(0, end), 'protobuf');
      if (round % 10 === 0) drain(Buffer.concat([body, body.subarray(0, end)]), 'protobuf');
    }
  });

  test('random bytes', () => {
    const next = random(7);
    for (let round = 0; round < 5_000; round += 1)
      drain(
        Buffer.from(Array.from({ length: round % 200 }, () => Math.floor(next() * 256))),
        round % 2 === 0 ? 'protobuf' : 'json',
      );
  });

  test('JSON with values of other types', () => {
    const next = random(11);
    const others = [
      null,
      true,
      -1,
      1e308,
      '',
      'text',
      '[',
      '{"a":',
      [],
      {},
      [[[]]],
      { a: { b: null } },
      '\ud800',
      '[{"role":"user"}]',
    ];
    const other = () => others[Math.floor(next() * others.length)];
    const changed = (value: unknown): unknown => {
      if (next() < 0.02) return other();
      if (Array.isArray(value)) return value.map(changed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, changed(item)]));
    };
    const requests = ['pydantic-ai', 'langfuse', 'openinference-openai', 'openai-agents'].map(
      (name) => fixture(name).request,
    );
    for (let round = 0; round < 400; round += 1)
      drain(Buffer.from(JSON.stringify(changed(requests[round % requests.length]))), 'json');
  });

  test('attributes of the conventions with values of other types', () => {
    const next = random(13);
    const names = Object.values(fixture('ai-sdk-legacy').request).flatMap((value) =>
      [...JSON.stringify(value).matchAll(/"key":"([^"]+)"/g)].map(([, name]) => name ?? ''),
    );
    names.push(
      'llm.input_messages.0',
      'llm.input_messages.x.message',
      'gen_ai.prompt.99999.role',
      'gen_ai.prompt.0',
      'metadata',
      'tag.tags',
    );
    names.push(
      'langfuse.observation.usage_details',
      'langfuse.observation.cost_details',
      'gen_ai.prompt.version',
      'mlflow.spanType',
    );
    const values = [
      true,
      -5,
      1.5,
      '{}',
      '[]',
      '[1]',
      '[[[]]]',
      '"',
      'constructor',
      '__proto__',
      '{"__proto__":{"a":1}}',
      '[{"role":"toString"}]',
    ];
    for (let round = 0; round < 3_000; round += 1) {
      const attributes = Object.fromEntries(
        Array.from({ length: 12 }, () => [
          names[Math.floor(next() * names.length)],
          values[Math.floor(next() * values.length)],
        ]),
      );
      expectStorable(JSON.stringify(stepWith(attributes)));
    }
    expect({}).not.toHaveProperty('a');
  });
});

describe('a response', () => {
  const refused = Array.from({ length: 7 }, (_, at) => ({ id: `id${at}`, reason: 'why', hasIds: true }));

  test('is empty if all is accepted', () => {
    expect(exportResponse([], [], 'json').toString()).toBe('{}');
    expect(exportResponse([], [], 'protobuf')).toHaveLength(0);
  });

  test('reports five refused spans', () => {
    const message = 'id0: why; id1: why; id2: why; id3: why; id4: why; and 2 more';
    const partialSuccess = { rejectedSpans: '7', errorMessage: message };
    expect(JSON.parse(exportResponse(refused, [], 'json').toString())).toEqual({ partialSuccess });
    const decoded = RESPONSE.toObject(RESPONSE.decode(exportResponse(refused, [], 'protobuf')), { longs: String });
    expect(decoded).toEqual({ partialSuccess });
  });

  test('of an error is a status', () => {
    const status = { code: 3, message: 'bad' };
    expect(JSON.parse(statusResponse(3, 'bad', 'json').toString())).toEqual(status);
    expect(RPC_STATUS.toObject(RPC_STATUS.decode(statusResponse(3, 'bad', 'protobuf')))).toEqual(status);
  });
});
