import type { Readable } from 'node:stream';
import { Agent, type FormData, request } from 'undici';
import { createGuardedConnector, RefusedAddressError } from '../outbound/connector.ts';
import { untilAborted } from '../outbound/deadline.ts';
import { ModelError } from './model-error.ts';

/** The longest response body that is read. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

const CONNECTIONS_PER_ORIGIN = 256;
const CONNECT_TIMEOUT_MS = 10_000;

/** No connection was made. */
const UNCONNECTED_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

export interface TransportRequest {
  /** Default: POST. */
  method?: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  /** What is no text is read as it is sent. */
  body?: string | FormData | Readable;
  signal: AbortSignal;
}

/** The connection could not be made: the provider has not seen the request. */
export class NotSentError extends ModelError {}

/** Waits until there is room in memory for so many bytes of a response. */
export type MakeRoom = (bytes: number) => Promise<void>;

export interface TransportResponse {
  status: number;
  headers: Headers;
  /**
   * Reads the whole body.
   *
   * @param makeRoom waits until there is room for so many bytes of it
   * @throws ModelError when the connection fails, or the body is longer than `MAX_RESPONSE_BYTES`
   */
  text(makeRoom: MakeRoom): Promise<string>;
  /**
   * Reads the body as it arrives, in place of `text`.
   *
   * @throws ModelError when the connection fails, or the body is longer than `maxBytes`
   */
  chunks(maxBytes: number): AsyncIterable<string>;
  /**
   * Reads a body of any length as it arrives, in place of `text`.
   *
   * @throws ModelError when the connection fails
   */
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * Kept-alive connections to the providers. Redirects are not followed, so that a key is sent only to its own host. The
 * operator sets the addresses, so they may be on this machine or in a private network. Link-local and metadata addresses, where a
 * cloud hands out its credentials, are refused.
 */
export interface Transport {
  /**
   * Sends, and waits for the response's headers. Its body must be read.
   *
   * @throws ModelError when the address is not allowed or the connection fails; NotSentError where it was never made
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  close(): Promise<void>;
}

export function createTransport(): Transport {
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    allowH2: false,
    connect: createGuardedConnector({ allowPrivate: 'true', timeoutMs: CONNECT_TIMEOUT_MS }),
    // The call's own signal bounds it; a model may think for long.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async send({ method = 'POST', url, headers, body, signal }) {
      const mapError = (error: unknown) =>
        signal.aborted || error instanceof ModelError ? error : connectionFailed(error);
      const sent = request(url, { method, headers, body: body ?? null, signal, dispatcher: agent });
      const response = await untilAborted(signal, sent).catch((error: unknown) => {
        throw mapError(error);
      });
      const chunks = (maxBytes: number) => readChunks(response.body, maxBytes, mapError);
      return {
        status: response.statusCode,
        headers: toHeaders(response.headers),
        text: (makeRoom) => joined(chunks(MAX_RESPONSE_BYTES), makeRoom),
        chunks,
        bytes: () => readBytes(response.body, Number.POSITIVE_INFINITY, mapError),
      };
    },
    close: () => agent.close(),
  };
}

async function* readBytes(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  mapError: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    // Leaving the loop early closes the connection.
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong(maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw mapError(error);
  }
}

async function* readChunks(...read: Parameters<typeof readBytes>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of readBytes(...read)) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function joined(chunks: AsyncIterable<string>, makeRoom: MakeRoom): Promise<string> {
  const pieces: string[] = [];
  let chars = 0;
  for await (const piece of chunks) {
    pieces.push(piece);
    chars += piece.length;
    await makeRoom(chars);
  }
  return pieces.join('');
}

/** A retry would likely be as long, and billed again. */
export function tooLong(maxBytes: number): ModelError {
  return new ModelError('model_unavailable', `The provider's response is longer than ${maxBytes} bytes.`, {
    retryable: false,
  });
}

function toHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, one);
    }
  }
  return headers;
}

/** Names the kind of failure only: the library's own message holds the address. */
function connectionFailed(error: unknown): ModelError {
  if (error instanceof RefusedAddressError) {
    const message = `The address that is set for the provider is not allowed (${error.refusal}).`;
    return new NotSentError('model_unavailable', message, { retryable: false });
  }
  const code = codeOf(error);
  const Failure = UNCONNECTED_CODES.has(code) ? NotSentError : ModelError;
  return TIMEOUT_CODES.has(code)
    ? new Failure('model_timeout', `The connection to the provider timed out (${code}).`)
    : new Failure('model_unavailable', `The connection to the provider failed (${code}).`);
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
