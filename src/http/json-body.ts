import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, type ErrorDetail } from '../domain/errors.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { countJsonValues, MAX_JSON_VALUES } from '../domain/text/json-count.ts';
import { digitFault } from '../domain/text/json-digits.ts';
import { insaneParts } from '../domain/text/json-faults.ts';
import { afterOthers } from '../lib/event-loop.ts';

/** The limit for most JSON bodies. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** The limit for bodies that can hold files. */
export const MAX_BODY_BYTES_WITH_FILES = 4 * 1024 * 1024;
/** How much of an oversized body is read before the connection is cut, so that the caller can read the response. */
const MAX_DRAIN_BYTES = 64 * 1024 * 1024;
/** Time limit for a JSON body, including the discarded rest of an oversized one. */
const MAX_BODY_MS = 60_000;
/** The amount that Node.js reads from a connection at a time. */
const CHUNK_BYTES = 64 * 1024;
/** A minimum number of bytes must arrive in each span of this length. */
const PACE_SPAN_MS = 10_000;
const PACE_BYTES = 1024;

const TOO_MANY_VALUES =
  `The body has too many JSON values: send at most ${MAX_JSON_VALUES} ` +
  'objects, lists, texts, numbers, true, false and null, at any depth.';

/** Whether a request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @throws ApiError `invalid_request` if the headers declare anything other than JSON in UTF-8 */
function requireJsonHeaders(request: IncomingMessage): void {
  const type = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;(.*))?$/i.exec(request.headers['content-type'] ?? '');
  if (type === null)
    throw new ApiError('invalid_request', 'Send the body as JSON, with "Content-Type: application/json".');
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(type[1] ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw new ApiError('invalid_request', 'Send the body in UTF-8.');
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ApiError('invalid_request', 'Send the body without Content-Encoding.');
}

/** @throws ApiError `payload_too_large`, `invalid_request` */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { socket } = request;
  const begun = performance.now();
  let bytesBefore = socket.bytesRead;
  let watch: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      const bytes = socket.bytesRead - bytesBefore;
      bytesBefore = socket.bytesRead;
      if (bytes < PACE_BYTES || performance.now() - begun >= MAX_BODY_MS)
        reject(
          new ApiError(
            'invalid_request',
            `The body arrived too slowly: send it within ${MAX_BODY_MS / 1000} s, without long pauses.`,
          ),
        );
    }, PACE_SPAN_MS);
  });
  const body = readBytesAtAnyPace(request, maxBytes);
  // Rejects if the connection is cut after the response.
  body.catch(() => {});
  try {
    return await Promise.race([body, tooSlow]);
  } finally {
    clearInterval(watch);
  }
}

/** Reads one chunk of a large body per round of the event loop, so that even many of them do not block others. */
async function readBytesAtAnyPace(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  let body = Buffer.allocUnsafe(announced > maxBytes ? 0 : announced);
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      const before = bytes;
      bytes += chunk.length;
      if (bytes > MAX_DRAIN_BYTES) break;
      if (Math.max(announced, bytes) <= maxBytes) {
        if (bytes > body.length) body = Buffer.concat([body], Math.min(2 * bytes, maxBytes));
        chunk.copy(body, before);
      }
      if (bytes > CHUNK_BYTES) await nextTurn();
    }
  } catch (error) {
    // The body arrived completely: this is another error.
    if (request.complete) throw error;
    throw new ApiError('invalid_request', 'The body ended before its announced length.');
  }
  if (Math.max(announced, bytes) > maxBytes)
    throw new ApiError('payload_too_large', `The body is too large: send at most ${maxBytes} bytes.`);
  return body.subarray(0, bytes);
}

/**
 * Reads the bytes of a JSON body.
 * @param maxBytes default: 1 MiB
 * @throws ApiError `payload_too_large`, `invalid_request`
 */
export async function readJsonBytes(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  requireJsonHeaders(request);
  return readBytes(request, maxBytes);
}

/** The announced length of a body, or the maximum. */
export function announcedBytes({ headers }: IncomingMessage, maxBytes = MAX_BODY_BYTES): number {
  const announced = headers['content-length'];
  return announced === undefined ? maxBytes : Math.min(Number(announced), maxBytes);
}

/**
 * For operations without a body: accepts nothing, or an empty object as some clients send it.
 * @throws ApiError `invalid_request` for anything else, which would be silently ignored
 */
export async function readNoBody(request: IncomingMessage): Promise<void> {
  const raw = await readBytes(request, MAX_BODY_BYTES);
  if (raw.length === 0 || raw.toString().trim() === '{}') return;
  throw new ApiError('invalid_request', 'This operation accepts no body: omit it.');
}

/** @throws ApiError `invalid_request` for anything that is not storable JSON in UTF-8 */
export async function parseJson(raw: Buffer): Promise<JsonValue> {
  if (countJsonValues(raw, MAX_JSON_VALUES) > MAX_JSON_VALUES) throw new ApiError('invalid_request', TOO_MANY_VALUES);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid UTF-8.');
  }
  if (text.trim() === '') throw new ApiError('invalid_request', 'The body is empty: send a JSON object.');
  let json: JsonValue;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ApiError(
      'invalid_request',
      `The body is not valid JSON: ${error instanceof Error ? error.message.toWellFormed() : 'it cannot be read'}`,
    );
  }
  await afterOthers(raw.length);
  const details = insaneParts(json);
  await afterOthers(raw.length);
  const lost = details.length === 0 ? digitFault(text) : undefined;
  if (lost !== undefined) details.push(lost);
  if (details.length > 0) throw new ApiError('invalid_request', describe(details), { details });
  return json;
}

/** `path: message` of each detail in one sentence. */
export function describe(details: ErrorDetail[]): string {
  return details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}
