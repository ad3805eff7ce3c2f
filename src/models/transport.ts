import type { Readable } from 'node:stream';
import { Agent, type FormData, request } from 'undici';
import { createGuardedConnector, RefusedAddressError } from '../outbound/connector.ts';
import { untilAborted } from '../outbound/deadline.ts';
import { ModelError } from './model-error.ts';

/** The maximum length of a response body. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

const CONNECTIONS_PER_ORIGIN = 256;
const CONNECT_TIMEOUT_MS = 10_000;

/** Errors before a connection was made. */
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
  /** A body other than a string is read while it is sent. */
  body?: string | FormData | Readable;
  signal: AbortSignal;
}

/** The connection could not be made: the provider has not received the request. */
export class NotSentError extends ModelError {}

/** Waits until there is memory for that many bytes of a response. */
export type MakeRoom = (bytes: number) => Promise<void>;

export interface TransportResponse {
  status: number;
  headers: Headers;
  /**
   * Reads the whole body.
   *
   * @param makeRoom waits until there is memory for that many bytes of it
   * @throws ModelError if the connection fails, or the body is longer than `MAX_RESPONSE_BYTES`
   */
  text(makeRoom: MakeRoom): Promise<string>;
  /**
   * Reads the body as it arrives, instead of `text`.
   *
   * @throws ModelError if the connection fails, or the body is longer than `maxBytes`
   */
  chunks(maxBytes: number): AsyncIterable<string>;
  /**
   * Reads a body of any length as it arrives, instead of `text`.
   *
   * @throws ModelError if the connection fails
   */
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * Kept-alive connections to the providers. Redirects are not followed, so that a key goes only to its own host. The operator sets
 * the addresses, so they can be local or in a private network. Link-local and metadata addresses, where a cloud provides its
 * credentials, are refused.
 */
export interface Transport {
  /**
   * Sends a request and waits for the response's headers. Its body must be read.
   *
   * @throws ModelError if the address is not allowed or the connection fails; NotSentError if no connection was made
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  close(): Promise<void>;
}

export function createTransport(): Transport {
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    allowH2: false,
    connect: createGuardedConnector({ allowPrivate: 'true', timeoutMs: CONNECT_TIMEOUT_MS }),
    // The call's own signal limits it; a model can take long to respond.
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

/** A retry would probably be as long, and billed again. */
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

/** Names only the kind of failure: the library's own message contains the address. */
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
