import type protobuf from 'protobufjs/light.js';
import { MAX_TOLD_REASONS } from '../limits.ts';
import type { OtlpEncoding, Refusal } from './read-request.ts';
import { RESPONSE, RPC_STATUS } from './schema.ts';

export const OTLP_MEDIA_TYPES: Record<OtlpEncoding, string> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

const encode = (type: protobuf.Type, message: Record<string, unknown>, encoding: OtlpEncoding): Buffer =>
  encoding === 'json'
    ? Buffer.from(JSON.stringify(message))
    : Buffer.from(type.encode(type.fromObject(message)).finish());

/**
 * An `ExportTraceServiceResponse`, empty if everything was stored.
 * @param warnings about spans that were stored
 */
export function exportResponse(
  refused: readonly Refusal[],
  warnings: readonly string[],
  encoding: OtlpEncoding,
): Buffer {
  const all = [...refused.map(({ id, reason }) => `${id}: ${reason}`), ...warnings];
  if (all.length === 0) return encode(RESPONSE, {}, encoding);
  const told = all.slice(0, MAX_TOLD_REASONS);
  const more = all.length > told.length ? [`and ${all.length - told.length} more`] : [];
  const partialSuccess = { rejectedSpans: String(refused.length), errorMessage: [...told, ...more].join('; ') };
  return encode(RESPONSE, { partialSuccess }, encoding);
}

/** A `google.rpc.Status`. @param code gRPC code, such as 3 for an invalid argument */
export function statusResponse(code: number, message: string, encoding: OtlpEncoding): Buffer {
  return encode(RPC_STATUS, { code, message }, encoding);
}
