import { isObject, type JsonValue } from '../../text/json.ts';
import { countJsonValues } from '../../text/json-count.ts';
import { MAX_SPANS, MAX_STEP_EVENTS, MAX_STEP_LINKS } from '../limits.ts';
import { attributesOf, idOf, listOf, MAX_READ_ATTRIBUTES, microsecondsOf, textOf } from './otlp-value.ts';
import { decodeMessage, hasMoreFields, REQUEST, SPAN } from './schema.ts';

/** The encoding of an OTLP/HTTP request and its response. */
export type OtlpEncoding = 'protobuf' | 'json';

/** JSON values, or protobuf fields without those of spans. */
const MAX_REQUEST_VALUES = 300_000;
/** Protobuf fields. */
const MAX_SPAN_FIELDS = 40_000;

export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  /** Microseconds since 1970. */
  startedAt: number;
  endedAt: number | null;
  attributes: Map<string, JsonValue>;
  events: { name: string; at: number | null; attributes: Map<string, JsonValue> }[];
  links: { traceId: string; spanId: string; attributes: Map<string, JsonValue> }[];
  status: { isError: boolean; isOk: boolean; message: string };
  /** Lists that were read only in part. */
  cut: string[];
}

/** What the spans of one library in one process share. */
export interface OtlpOrigin {
  resource: Map<string, JsonValue>;
  scope: { name: string; version: string };
}

/** A span that is refused. */
export interface Refusal {
  /** `trace:span`, or its position in the request. */
  id: string;
  reason: string;
  /** Whether its ids are valid. If no span of a request has valid ids, the request is refused. */
  hasIds: boolean;
}

/** A request whose spans are read one by one. */
export interface OtlpRequest {
  /** The number of spans. */
  size: number;
  /** Each is read on demand, so that the caller can let other work run in between. */
  spans: Iterable<{ span: OtlpSpan; origin: OtlpOrigin } | Refusal>;
}

/** `STATUS_CODE_ERROR` and `STATUS_CODE_OK` by number and name. */
const ERROR_CODES: readonly unknown[] = [2, 'STATUS_CODE_ERROR'];
const OK_CODES: readonly unknown[] = [1, 'STATUS_CODE_OK'];

/** @param place position in the request, for spans without ids */
function spanOf(raw: Record<string, unknown>, place: string): OtlpSpan | Refusal {
  const [traceId, spanId] = [idOf(raw['traceId'], 16), idOf(raw['spanId'], 8)];
  if (traceId === undefined || spanId === undefined)
    return { id: place, reason: 'its trace id must be 16 bytes and its span id 8, and not all zero', hasIds: false };
  const startedAt = microsecondsOf(raw['startTimeUnixNano']);
  if (startedAt === null) return { id: `${traceId}:${spanId}`, reason: 'it has no start time', hasIds: true };
  const [events, links] = [listOf(raw['events']), listOf(raw['links'])];
  const { code, message } = isObject(raw['status']) ? raw['status'] : {};
  const isCut = {
    attributes: listOf(raw['attributes']).length > MAX_READ_ATTRIBUTES,
    events: events.length > MAX_STEP_EVENTS,
    links: links.length > MAX_STEP_LINKS,
  };
  return {
    traceId,
    spanId,
    parentId: idOf(raw['parentSpanId'], 8) ?? null,
    name: textOf(raw['name']),
    startedAt,
    endedAt: microsecondsOf(raw['endTimeUnixNano']),
    attributes: attributesOf(raw['attributes']),
    events: events.slice(0, MAX_STEP_EVENTS).flatMap((event) => {
      if (!isObject(event)) return [];
      const at = microsecondsOf(event['timeUnixNano']);
      return [{ name: textOf(event['name']), at, attributes: attributesOf(event['attributes']) }];
    }),
    links: links.slice(0, MAX_STEP_LINKS).flatMap((link) => {
      if (!isObject(link)) return [];
      const [linked, to] = [idOf(link['traceId'], 16), idOf(link['spanId'], 8)];
      if (linked === undefined || to === undefined) return [];
      return [{ traceId: linked, spanId: to, attributes: attributesOf(link['attributes']) }];
    }),
    status: { isError: ERROR_CODES.includes(code), isOk: OK_CODES.includes(code), message: textOf(message) },
    cut: Object.entries(isCut).flatMap(([field, is]) => (is ? [field] : [])),
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Decodes a span from protobuf; spans from JSON are parsed already. */
function decodeSpan(span: unknown, place: string): OtlpSpan | Refusal {
  if (!(span instanceof Uint8Array)) return spanOf(isObject(span) ? span : {}, place);
  if (hasMoreFields(SPAN, span, MAX_SPAN_FIELDS))
    return { id: place, reason: `it has more than ${MAX_SPAN_FIELDS} values`, hasIds: true };
  try {
    return spanOf(decodeMessage(SPAN, span), place);
  } catch (error) {
    return { id: place, reason: `it is malformed: ${messageOf(error)}`, hasIds: false };
  }
}

function parse(body: Buffer, encoding: OtlpEncoding): { request: unknown } | { fault: string } {
  const isLarge =
    encoding === 'json'
      ? countJsonValues(body, MAX_REQUEST_VALUES) > MAX_REQUEST_VALUES
      : hasMoreFields(REQUEST, body, MAX_REQUEST_VALUES);
  if (isLarge) return { fault: `The request has more than ${MAX_REQUEST_VALUES} values: send fewer spans in each.` };
  try {
    return { request: encoding === 'json' ? JSON.parse(body.toString()) : decodeMessage(REQUEST, body) };
  } catch (error) {
    const what = `The body is not an ExportTraceServiceRequest in ${encoding === 'json' ? 'JSON' : 'protobuf'}`;
    return { fault: `${what}: ${messageOf(error)}` };
  }
}

interface Batch {
  origin: OtlpOrigin;
  spans: readonly unknown[];
  place: string;
}

function batchesOf(request: unknown): Batch[] {
  const members = (value: unknown, name: string) => (isObject(value) ? listOf(value[name]) : []);
  return members(request, 'resourceSpans').flatMap((group, at) => {
    const resource = attributesOf(
      isObject(group) && isObject(group['resource']) ? group['resource']['attributes'] : [],
    );
    return members(group, 'scopeSpans').map((part, within) => {
      const scope = isObject(part) && isObject(part['scope']) ? part['scope'] : {};
      return {
        origin: { resource, scope: { name: textOf(scope['name']), version: textOf(scope['version']) } },
        spans: members(part, 'spans'),
        place: `resource_spans[${at}].scope_spans[${within}]`,
      };
    });
  });
}

function* readSpans(batches: readonly Batch[]): Generator<{ span: OtlpSpan; origin: OtlpOrigin } | Refusal> {
  for (const { origin, spans, place } of batches)
    for (const [at, raw] of spans.entries()) {
      const span = decodeSpan(raw, `${place}.spans[${at}]`);
      yield 'reason' in span ? span : { span, origin };
    }
}

/**
 * Reads an `ExportTraceServiceRequest`. Unknown fields are ignored.
 * @param body decompressed
 * @returns the request, or why the body is not one
 */
export function readRequest(body: Buffer, encoding: OtlpEncoding): OtlpRequest | { fault: string } {
  const parsed = parse(body, encoding);
  if ('fault' in parsed) return parsed;
  if (!isObject(parsed.request)) return { fault: 'The body must be an ExportTraceServiceRequest: a JSON object.' };
  const batches = batchesOf(parsed.request);
  const size = batches.reduce((sum, { spans }) => sum + spans.length, 0);
  if (size > MAX_SPANS) return { fault: `The request has ${size} spans: send at most ${MAX_SPANS} in each.` };
  return { size, spans: readSpans(batches) };
}
