import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ApiError } from '../../domain/errors.ts';
import { MAX_OTLP_JSON_BYTES, MAX_PROTOBUF_BYTES } from '../../domain/traces/limits.ts';
import type { OtlpEncoding } from '../../domain/traces/otlp/read-request.ts';
import { OTLP_MEDIA_TYPES } from '../../domain/traces/otlp/responses.ts';

const decompress = promisify(gunzip);

const MAX_BYTES: Record<OtlpEncoding, number> = { protobuf: MAX_PROTOBUF_BYTES, json: MAX_OTLP_JSON_BYTES };

/** @throws ApiError `invalid_request` */
export function encodingOf(contentType: string | undefined): OtlpEncoding {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === OTLP_MEDIA_TYPES.protobuf) return 'protobuf';
  if (type === OTLP_MEDIA_TYPES.json) return 'json';
  throw new ApiError(
    'invalid_request',
    'Send OTLP with "Content-Type: application/x-protobuf" or "Content-Type: application/json".',
  );
}

const tooLarge = (bytes: number) =>
  new ApiError(
    'payload_too_large',
    `The request is too large: send at most ${bytes} bytes, counted when they are decompressed.`,
  );

/**
 * Decompresses a body, up to its maximum size.
 * @throws ApiError `invalid_request`, `payload_too_large`
 */
export async function plainBody(
  body: Buffer,
  { encoding, compression = 'identity' }: { encoding: OtlpEncoding; compression: string | undefined },
): Promise<Buffer> {
  const most = MAX_BYTES[encoding];
  if (compression.toLowerCase() === 'identity') {
    if (body.length > most) throw tooLarge(most);
    return body;
  }
  if (compression.toLowerCase() !== 'gzip')
    throw new ApiError('invalid_request', 'Send the body with "Content-Encoding: gzip" or without compression.');
  try {
    return await decompress(body, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most);
    throw new ApiError('invalid_request', 'The body is not valid gzip.', { cause: error });
  }
}
