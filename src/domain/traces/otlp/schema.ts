import protobuf from 'protobufjs/light.js';

type Field = [id: number, type: string, rule?: 'repeated'];
const message = (fields: Record<string, Field>): protobuf.IType => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, [id, type, rule]]) => [
      name,
      rule === undefined ? { id, type } : { id, type, rule },
    ]),
  ),
});

/**
 * The messages of OTLP 1.x traces, as far as they are read: `opentelemetry/proto/collector/trace/v1/trace_service.proto` and its imports.
 * Spans are decoded separately, one by one: here they are bytes, which is the same on the wire.
 */
const ROOT = protobuf.Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: message({ resourceSpans: [1, 'ResourceSpans', 'repeated'] }),
    ResourceSpans: message({ resource: [1, 'Resource'], scopeSpans: [2, 'ScopeSpans', 'repeated'] }),
    Resource: message({ attributes: [1, 'KeyValue', 'repeated'] }),
    ScopeSpans: message({ scope: [1, 'Scope'], spans: [2, 'bytes', 'repeated'] }),
    Scope: message({ name: [1, 'string'], version: [2, 'string'] }),
    Span: message({
      traceId: [1, 'bytes'],
      spanId: [2, 'bytes'],
      parentSpanId: [4, 'bytes'],
      name: [5, 'string'],
      startTimeUnixNano: [7, 'fixed64'],
      endTimeUnixNano: [8, 'fixed64'],
      attributes: [9, 'KeyValue', 'repeated'],
      events: [11, 'Event', 'repeated'],
      links: [13, 'Link', 'repeated'],
      status: [15, 'Status'],
    }),
    Event: message({ timeUnixNano: [1, 'fixed64'], name: [2, 'string'], attributes: [3, 'KeyValue', 'repeated'] }),
    Link: message({ traceId: [1, 'bytes'], spanId: [2, 'bytes'], attributes: [4, 'KeyValue', 'repeated'] }),
    Status: message({ message: [2, 'string'], code: [3, 'int32'] }),
    KeyValue: message({ key: [1, 'string'], value: [2, 'AnyValue'] }),
    AnyValue: {
      oneofs: {
        value: {
          oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'],
        },
      },
      ...message({
        stringValue: [1, 'string'],
        boolValue: [2, 'bool'],
        intValue: [3, 'int64'],
        doubleValue: [4, 'double'],
        arrayValue: [5, 'ArrayValue'],
        kvlistValue: [6, 'KeyValueList'],
        bytesValue: [7, 'bytes'],
      }),
    },
    ArrayValue: message({ values: [1, 'AnyValue', 'repeated'] }),
    KeyValueList: message({ values: [1, 'KeyValue', 'repeated'] }),
    ExportTraceServiceResponse: message({ partialSuccess: [1, 'ExportTracePartialSuccess'] }),
    ExportTracePartialSuccess: message({ rejectedSpans: [1, 'int64'], errorMessage: [2, 'string'] }),
    /** `google.rpc.Status` */
    RpcStatus: message({ code: [1, 'int32'], message: [2, 'string'] }),
  },
}).resolveAll();

export const REQUEST = ROOT.lookupType('ExportTraceServiceRequest');
export const SPAN = ROOT.lookupType('Span');
export const RESPONSE = ROOT.lookupType('ExportTraceServiceResponse');
export const RPC_STATUS = ROOT.lookupType('RpcStatus');

/** The maximum depth of a decoder. */
const MAX_DEPTH = 100;
/** A field takes at least two bytes. */
const LEAST_FIELD_BYTES = 2;

/**
 * Whether a message has more than `most` fields, at any depth. However short a field is, it takes memory and time of its own once it is
 * decoded.
 */
export function hasMoreFields(type: protobuf.Type, bytes: Uint8Array, most: number): boolean {
  if (bytes.length <= most * LEAST_FIELD_BYTES) return false;
  const reader = protobuf.Reader.create(bytes);
  let left = most;
  const walk = (within: protobuf.Type, end: number, depth: number) => {
    while (reader.pos < end && left >= 0) {
      left -= 1;
      const tag = reader.uint32();
      const inner = within.fieldsById[tag >>> 3]?.resolvedType;
      if ((tag & 7) === 2 && inner instanceof protobuf.Type && depth < MAX_DEPTH)
        walk(inner, reader.uint32() + reader.pos, depth + 1);
      else reader.skipType(tag & 7);
    }
  };
  try {
    walk(type, bytes.length, 0);
  } catch {
    // The decoder reports malformed bytes, and gets no further.
  }
  return left < 0;
}

/** A decoded message as in OTLP/JSON, except that ids and bytes stay bytes. @throws Error if it is malformed */
export function decodeMessage(type: protobuf.Type, bytes: Uint8Array): Record<string, unknown> {
  return type.toObject(type.decode(bytes), { longs: String });
}
