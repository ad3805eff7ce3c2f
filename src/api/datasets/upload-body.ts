import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../domain/errors.ts';

export const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
/** How long the caller can pause while sending. */
const STALL_MS = 60_000;
/** The same limit after the upload was rejected. */
const DISCARD_STALL_MS = 10_000;

const JSON_LINES = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/;
const CSV = /^(?:(?:text|application)\/csv|text\/tab-separated-values)$/;

export type UploadFormat = 'jsonl' | 'csv';

/** @throws ApiError `invalid_request`, `payload_too_large` for what the headers alone reveal */
function uploadFormatOf({ headers }: IncomingMessage): UploadFormat {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const format = JSON_LINES.test(type) ? 'jsonl' : CSV.test(type) ? 'csv' : undefined;
  if (format === undefined)
    throw new ApiError(
      'invalid_request',
      'Send the examples as JSON Lines, with "Content-Type: application/x-ndjson", or as CSV, with "Content-Type: text/csv".',
    );
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset))
    throw new ApiError('invalid_request', 'Send the examples in UTF-8.');
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new ApiError(
      'invalid_request',
      'Send the examples without Content-Encoding: compressed uploads are not accepted.',
    );
  if (Number(headers['content-length'] ?? 0) > MAX_UPLOAD_BYTES) throw tooLarge();
  return format;
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `The upload is too large: send at most ${MAX_UPLOAD_BYTES} bytes.`);
}

/** The next chunk, or an error if none arrives within `ms`. */
async function nextWithin(chunks: AsyncIterator<Buffer>, ms: number): Promise<IteratorResult<Buffer>> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ApiError('invalid_request', `The upload stalled: no bytes for ${ms / 1000} s.`)),
      ms,
    );
  });
  try {
    return await Promise.race([chunks.next(), stalled]);
  } finally {
    clearTimeout(timer);
  }
}

async function* readChunks(chunks: AsyncIterator<Buffer>, stallMs: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for (;;) {
    const { done, value } = await nextWithin(chunks, stallMs).catch((error: unknown) => {
      if (error instanceof ApiError) throw error;
      throw new ApiError('invalid_request', 'The upload was cut off before it was complete.', { cause: error });
    });
    if (done) return;
    bytes += value.length;
    if (bytes > MAX_UPLOAD_BYTES) throw tooLarge();
    yield value;
  }
}

/**
 * Reads and discards what the caller still sends after a rejection: many clients read no response before they have sent
 * everything, and closing the connection early would lose it. Cuts the connection when the limits are reached.
 */
async function discard(request: IncomingMessage, chunks: AsyncIterator<Buffer>): Promise<void> {
  // After the response is sent, Node no longer notifies a request that its connection closed.
  const { socket } = request;
  const end = () => request.destroy();
  if (socket.destroyed) end();
  socket.once('close', end);
  try {
    for (let left = MAX_UPLOAD_BYTES; left > 0; ) {
      const { done, value } = await nextWithin(chunks, DISCARD_STALL_MS);
      if (done) return;
      left -= value.length;
    }
  } catch {
    // The caller disconnected or stalled.
  } finally {
    socket.off('close', end);
  }
  request.destroy();
}

/**
 * Passes the bytes of an upload to `work`, at most 256 MiB.
 * @throws ApiError `invalid_request`, `payload_too_large`; whatever `work` throws
 */
export async function withUpload<T>(
  request: IncomingMessage,
  work: (format: UploadFormat, bytes: AsyncIterable<Buffer>) => Promise<T>,
  stallMs = STALL_MS,
): Promise<T> {
  const chunks: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  try {
    return await work(uploadFormatOf(request), readChunks(chunks, stallMs));
  } catch (error) {
    void discard(request, chunks);
    throw error;
  }
}
