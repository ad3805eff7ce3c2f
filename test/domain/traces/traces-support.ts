import { readFileSync } from 'node:fs';
import type protobuf from 'protobufjs/light.js';
import type { OtlpEncoding, Refusal } from '../../../src/domain/traces/otlp/read-request.ts';
import { REQUEST, SPAN } from '../../../src/domain/traces/otlp/schema.ts';
import { isRefusal, readSteps } from '../../../src/domain/traces/read-steps.ts';
import type { Step } from '../../../src/domain/traces/step.ts';

/** When the spans of fixtures start, in milliseconds. */
export const BEGIN = 1_767_225_600_000;
const TIMES = { now: BEGIN + 60_000, oldest: BEGIN - 60_000 };

type Json = Record<string, unknown>;

/** What an instrumentation sent (scripts/capture-spans.ts), and what the provider would bill. */
export interface Fixture {
  billed: { calls: number; input: number; output: number; cached_input: number; reasoning: number };
  request: Json;
}
export function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as Fixture;
}

/** Converts an OTLP/JSON request to protobuf. */
export function toProtobuf(request: Json): Buffer {
  const ids = /^(traceId|spanId|parentSpanId)$/;
  const bytes = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(bytes);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        ids.test(name) ? Buffer.from(String(item), 'hex') : bytes(item),
      ]),
    );
  };
  const encode = (type: protobuf.Type, message: Json) => Buffer.from(type.encode(type.fromObject(message)).finish());
  const groups = (request['resourceSpans'] as Json[]).map((group) => ({
    ...group,
    scopeSpans: (group['scopeSpans'] as Json[]).map((part) => ({
      ...part,
      spans: (part['spans'] as Json[]).map((span) => encode(SPAN, bytes(span) as Json)),
    })),
  }));
  return encode(REQUEST, { resourceSpans: groups });
}

export interface Read {
  steps: Step[];
  refused: Refusal[];
  ignored: number;
}

/** All spans of a body. @throws Error if it is not a request */
export function readBody(body: Buffer, encoding: OtlpEncoding, times = TIMES): Read {
  const request = readSteps(body, encoding, times);
  if ('fault' in request) throw new Error(request.fault);
  const read: Read = { steps: [], refused: [], ignored: 0 };
  for (const each of request.steps) {
    if (each === null) read.ignored += 1;
    else if (isRefusal(each)) read.refused.push(each);
    else read.steps.push(each);
  }
  return read;
}

export const readJson = (request: Json): Read => readBody(Buffer.from(JSON.stringify(request)), 'json');

const toAny = (value: unknown): Json => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAny) } };
  return { kvlistValue: { values: toKeyValues(value as Json) } };
};
export const toKeyValues = (attributes: Json): Json[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: toAny(value) }));

/** A span of OTLP/JSON with these attributes. */
export function spanWith(attributes: Json, more: Json = {}): Json {
  return {
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: '0123456789abcdef',
    name: 'call',
    startTimeUnixNano: `${BEGIN}000000`,
    endTimeUnixNano: `${BEGIN + 1}000000`,
    attributes: toKeyValues(attributes),
    ...more,
  };
}

export const requestWith = (...spans: unknown[]): Json => ({
  resourceSpans: [
    {
      resource: { attributes: toKeyValues({ 'service.name': 'shop', 'host.name': 'a' }) },
      scopeSpans: [{ scope: { name: 'library', version: '1' }, spans }],
    },
  ],
});

/** The step of a span with these attributes. */
export function stepWith(attributes: Json, more: Json = {}): Step {
  const [step] = readJson(requestWith(spanWith(attributes, more))).steps;
  if (step === undefined) throw new Error('The span was not taken.');
  return step;
}
