import type { Readable } from 'node:stream';
import type { FormData } from 'undici';
import type { z } from 'zod';
import { startDeadline } from '../deadline.ts';
import type { ProviderConnection } from '../http-models.ts';
import { ModelError } from '../model-error.ts';
import { providerError } from '../provider-errors.ts';
import { NotSentError, type TransportResponse } from '../transport.ts';
import { SubmissionError } from './submission-error.ts';

/** Timeouts for a provider, in milliseconds. */
export const TIMEOUTS = {
  /** For a request and its whole response, so that a hung poll ends. */
  request: 60_000,
  /** For uploading a batch's file: 240 MB at 2 Mbit/s. */
  upload: 20 * 60_000,
  /** How long a download can stall. */
  silence: 60_000,
};

/** A request to a provider's batch API. */
export interface BatchRequest {
  /** Default: POST. */
  method?: 'GET' | 'POST' | 'DELETE';
  /** Relative to the base URL, or an absolute address. */
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged. */
  upload?: FormData | Readable;
  signal: AbortSignal;
}

/** A provider's batch API: each request is one attempt, with a time limit. */
export interface BatchClient {
  /** @throws ModelError for everything except the caller's own abort, also if the body has another shape */
  ask<T>(request: BatchRequest, shape: z.ZodType<T>): Promise<T>;
  /** The same for a request that creates a batch. @throws SubmissionError */
  create<T>(request: BatchRequest, shape: z.ZodType<T>): Promise<T>;
  /** The response with its headers; the body has been read. @throws ModelError */
  askFor(request: BatchRequest): Promise<{ headers: Headers; text: string }>;
  /** The body as it arrives. @throws ModelError */
  download(request: Omit<BatchRequest, 'json' | 'upload'>): AsyncIterable<Uint8Array>;
}

/** @param auth headers with the key */
export function createBatchClient(
  connection: ProviderConnection,
  auth: Record<string, string>,
  timeouts = TIMEOUTS,
): BatchClient {
  const { transport, baseUrl, redact } = connection;

  function send(
    { method, path, headers, json, upload }: BatchRequest,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    return transport.send({
      ...(method !== undefined && { method }),
      url: path.startsWith('/') ? `${baseUrl}${path}` : path,
      headers: { ...auth, ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(upload !== undefined && { body: upload }),
      signal,
    });
  }

  async function successful(response: TransportResponse): Promise<{ headers: Headers; text: string }> {
    const { status, headers } = response;
    const text = await response.text(async () => {});
    if (status < 200 || status > 299) throw new ResponseError(providerError({ status, headers, text }, redact), status);
    return { headers, text };
  }

  async function askFor(request: BatchRequest): Promise<{ headers: Headers; text: string }> {
    request.signal.throwIfAborted();
    const timeoutMs = request.upload === undefined ? timeouts.request : timeouts.upload;
    const deadline = startDeadline(request.signal, timeoutMs);
    try {
      return await successful(await send(request, deadline.signal));
    } catch (error) {
      if (deadline.expired()) throw timedOut(timeoutMs);
      throw error;
    } finally {
      deadline.end();
    }
  }

  const answered = async <T>(request: BatchRequest, shape: z.ZodType<T>): Promise<T> => {
    const { text } = await askFor(request);
    const parsed = shape.safeParse(jsonOf(text));
    if (!parsed.success)
      throw new ModelError('model_unavailable', "The provider's response is not of the expected shape.");
    return parsed.data;
  };

  return {
    askFor: (request) => askFor(request).catch(rethrow),
    ask: (request, shape) => answered(request, shape).catch(rethrow),

    create: (request, shape) =>
      answered(request, shape).catch((error: unknown) => {
        const cause = error instanceof ResponseError ? error.cause : error;
        if (!(cause instanceof ModelError)) throw error;
        throw new SubmissionError(cause, mayExistAfter(error));
      }),

    async *download(request) {
      request.signal.throwIfAborted();
      // Each piece restarts the timeout.
      let deadline = startDeadline(request.signal, timeouts.silence);
      const giveUp = new AbortController();
      const watch = () => {
        const { signal } = deadline;
        const onAbort = () => giveUp.abort(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
      };
      watch();
      const restart = () => {
        deadline.end();
        deadline = startDeadline(request.signal, timeouts.silence);
        watch();
      };
      try {
        const response = await send(request, giveUp.signal);
        if (response.status < 200 || response.status > 299) await successful(response);
        for await (const chunk of response.bytes()) {
          // The time that the reader takes does not count as a stall.
          deadline.end();
          yield chunk;
          restart();
        }
      } catch (error) {
        if (deadline.expired()) throw timedOut(timeouts.silence);
        rethrow(error);
      } finally {
        deadline.end();
      }
    },
  };
}

/** An error response: its meaning and its status. */
class ResponseError extends Error {
  override readonly cause: ModelError;
  readonly status: number;

  constructor(cause: ModelError, status: number) {
    super(cause.message, { cause });
    this.cause = cause;
    this.status = status;
  }
}

function rethrow(error: unknown): never {
  throw error instanceof ResponseError ? error.cause : error;
}

/** A rejected request created nothing; after a server error or no response, a batch may exist. */
function mayExistAfter(error: unknown): boolean {
  if (error instanceof ResponseError) return error.status >= 500 || error.status === 408 || error.status < 400;
  return !(error instanceof NotSentError);
}

function timedOut(timeoutMs: number): ModelError {
  return new ModelError('model_timeout', `The provider did not respond within ${timeoutMs} ms.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
