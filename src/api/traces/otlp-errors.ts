import { z } from 'zod';
import type { ApiError, ErrorCode } from '../../domain/errors.ts';
import { OTLP_MEDIA_TYPES, statusResponse } from '../../domain/traces/otlp/responses.ts';
import type { ErrorFormat } from '../../http/route.ts';

const RpcStatus = z
  .object({
    code: z.int().meta({ description: 'A gRPC status code.' }),
    message: z.string().meta({ description: 'A description of the error and of how to fix it.' }),
  })
  .meta({ id: 'RpcStatus' });

/** gRPC codes. */
const GRPC = {
  invalidArgument: 3,
  permissionDenied: 7,
  resourceExhausted: 8,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

function grpcCode(code: ErrorCode): number {
  if (code === 'unauthorized') return GRPC.unauthenticated;
  if (code === 'insufficient_scope') return GRPC.permissionDenied;
  if (code === 'rate_limited' || code === 'quota_exceeded') return GRPC.resourceExhausted;
  if (code === 'temporarily_unavailable') return GRPC.unavailable;
  return code === 'internal_error' ? GRPC.internal : GRPC.invalidArgument;
}

/**
 * Errors in the format of OTLP. Exporters retry 429 and 503, never 400 and 500: they must not retry for a full quota, but must for temporary
 * errors.
 */
export const otlpErrors: ErrorFormat = {
  name: 'Otlp',
  schema: RpcStatus,
  statusOf: (code) => ({ quota_exceeded: 400, temporarily_unavailable: 503 })[code as string],
  present: ({ code, message }) => ({ code: grpcCode(code), message }),
  encode: ({ code, message }: ApiError, contentType) =>
    contentType.startsWith(OTLP_MEDIA_TYPES.protobuf)
      ? { contentType: OTLP_MEDIA_TYPES.protobuf, body: statusResponse(grpcCode(code), message, 'protobuf') }
      : undefined,
};
