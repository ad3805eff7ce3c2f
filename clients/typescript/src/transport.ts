import { ConnectionError, type ErrorCode, errorOf, PmsError } from './errors.ts';
import { environment } from './platform.ts';

/** How requests are made. */
export interface TransportOptions {
  /**
   * The service's address, such as `https://prompts.example.com`, with or without `/v1`. Default: `PMS_BASE_URL` from the
   * environment
   */
  baseUrl?: string | undefined;
  /**
   * A key of the service, or a function that returns one for each request; null sends none. Default: `PMS_API_KEY` from the
   * environment
   */
  apiKey?: string | (() => string | Promise<string>) | null | undefined;
  /** Default: the global one. */
  fetch?: typeof fetch;
  /** Timeout for a response, or the start of a stream, in milliseconds. Default: 90,000 */
  timeoutMs?: number;
  /** How long to retry a failing request, from its first failure, in milliseconds. 0 disables retries. Default: 120,000 */
  retryForMs?: number;
  /** Maximum number of retries. Default: limited only by `retryForMs` */
  maxRetries?: number;
  /** Called for each failure that is retried, with the pause before the retry. */
  onRetry?: (error: PmsError, pauseMs: number) => void;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
}

/** Options of a single request. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  retryForMs?: number | undefined;
  maxRetries?: number | undefined;
  /** Called in addition to the client's callback. */
  onRetry?: ((error: PmsError, pauseMs: number) => void) | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface Request extends RequestOptions {
  method: string;
  /** Relative to `/v1`, with its parameters filled in. */
  path: string;
  body?: RequestInit['body'] | undefined;
  /** Whether it is idempotent, so that it can be retried after a lost response. */
  isRepeatable: boolean;
  /** Whether the body is read after `read`; the signal then covers that, too. */
  isStreamed?: boolean | undefined;
  /** Additional fields of its errors. */
  about?: { idempotencyKey: string | undefined; executionId: string | undefined } | undefined;
}

/**
 * Sends a request, with retries if useful.
 * @param read reads the result from a response; if the connection breaks during this, the request may be retried
 * @throws PmsError for an error response, and for no response
 */
export type Transport = <Result>(request: Request, read: (response: Response) => Promise<Result>) => Promise<Result>;

const TIMEOUT_MS = 90_000;
/** Long enough for a restart, an upgrade or a failover. */
export const RETRY_FOR_MS = 120_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;

/**
 * The base of all paths. A URL with a user and password is rejected without showing it; `fetch` also rejects it, but shows it.
 * @throws TypeError
 */
function rootOf(baseUrl: string): string {
  const base = baseUrl.trim().replace(/\/+$/, '').replace(/\/v1$/, '');
  let url: URL | undefined;
  try {
    // Without a scheme, `localhost:3000` would be a URL with the scheme `localhost:`.
    if (/^https?:\/\//i.test(base)) url = new URL(base);
  } catch {
    // Reported below.
  }
  if (url === undefined || url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'The baseUrl must be an http or https URL without a user, password or query, such as http://127.0.0.1:3000. Change baseUrl or PMS_BASE_URL.',
    );
  return `${base}/v1`;
}

/**
 * The key without surrounding white space, such as the line break of a file. @throws TypeError, without the key, if it is not a valid
 * header value
 */
function trimmedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key === '') throw new TypeError('The API key is empty. Set apiKey or PMS_API_KEY to a key of the service.');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('The API key has white space or a character that is not ASCII. Copy the key again.');
  return key;
}

/** @throws TypeError if neither the options nor the environment contain the service's address, or a key */
export function createTransport({
  baseUrl = environment('PMS_BASE_URL'),
  apiKey = environment('PMS_API_KEY'),
  headers,
  ...options
}: TransportOptions): Transport {
  if (!baseUrl)
    throw new TypeError(
      'Pass baseUrl, or set PMS_BASE_URL: the address of the service, such as http://127.0.0.1:3000.',
    );
  if (apiKey === undefined) throw new TypeError('Pass apiKey, or set PMS_API_KEY: a key of the service.');
  const key = typeof apiKey === 'string' ? trimmedKey(apiKey) : apiKey;
  const root = rootOf(baseUrl);

  async function send<Result>(
    { method, path, body, signal, timeoutMs, headers: own, isStreamed, about }: Request,
    read: (response: Response) => Promise<Result>,
  ): Promise<{ result: Result } | { error: PmsError }> {
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(own ?? {})) if (value !== undefined) all.set(name, value);
    if (key !== null) all.set('Authorization', `Bearer ${typeof key === 'string' ? key : trimmedKey(await key())}`);
    const timeout = new AbortController();
    const abort = () => timeout.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const limit = timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
    const timer = setTimeout(() => timeout.abort(new Error(`no response within ${limit} ms`)), limit);
    try {
      // Looked up each time, because programs and tests may replace it.
      const request = options.fetch ?? fetch;
      const init: RequestInit & { duplex?: 'half' } = { method, headers: all, signal: timeout.signal };
      if (body !== undefined) init.body = body;
      if (body instanceof ReadableStream) init.duplex = 'half';
      // If redirects were allowed, fetch would keep the whole body in memory to send it again.
      if (body instanceof ReadableStream || body instanceof Blob)
        Object.assign(init, { redirect: 'error', window: null });
      const response = await request(root + path, init);
      return response.ok ? { result: await read(response) } : { error: await errorOfResponse(response, about) };
    } catch (error) {
      if (signal?.aborted || error instanceof PmsError) throw error;
      const reason = timeout.signal.aborted ? timeout.signal.reason : error;
      const message = `${method} ${root}${path}: ${messageOf(reason)}`;
      return { error: new ConnectionError('connection_failed', message, { ...about, cause: error }) };
    } finally {
      clearTimeout(timer);
      if (!isStreamed) signal?.removeEventListener('abort', abort);
    }
  }

  return async (request, read) => {
    const limits = { ...options, ...given(request) };
    const patience = createPatience(limits);
    const isOnce = request.body instanceof ReadableStream;
    for (;;) {
      const sent = await send(request, read);
      if ('result' in sent) return sent.result;
      const { error } = sent;
      const mayHelp = error.code === 'rate_limited' || isUnsent(error) || (request.isRepeatable && isTemporary(error));
      const pauseMs = mayHelp && !isOnce ? patience.pauseAfter(error) : undefined;
      if (pauseMs === undefined) throw error;
      options.onRetry?.(error, pauseMs);
      request.onRetry?.(error, pauseMs);
      await sleep(pauseMs, request.signal);
    }
  };
}

const given = ({ retryForMs, maxRetries }: Request) => ({
  ...(retryForMs !== undefined && { retryForMs }),
  ...(maxRetries !== undefined && { maxRetries }),
});

/** How long to retry something that keeps failing. */
export interface Patience {
  /** The pause after another failure; undefined to give up. */
  pauseAfter(error: PmsError): number | undefined;
  /** Call after a success: a later failure counts as the first one. */
  reset(): void;
}

/**
 * Limited by the time since the first failure, because a restarting service is away for a time rather than a number of
 * requests.
 */
export function createPatience({
  retryForMs = RETRY_FOR_MS,
  maxRetries = Number.POSITIVE_INFINITY,
}: Pick<TransportOptions, 'retryForMs' | 'maxRetries'>): Patience {
  let failures = 0;
  let until = 0;
  return {
    pauseAfter({ retryAfterMs = 0 }) {
      const now = Date.now();
      if (failures === 0) until = now + retryForMs;
      if (failures >= maxRetries || now >= until || now + retryAfterMs > until) return undefined;
      failures += 1;
      return Math.max(retryAfterMs, Math.min(backoffMs(failures - 1), until - now));
    },
    reset() {
      failures = 0;
    },
  };
}

/** Whether the same request may succeed later. */
export function isTemporary({ code, status }: PmsError): boolean {
  return code === 'connection_failed' || code === 'rate_limited' || (status !== undefined && status >= 500);
}

/** Whether the request certainly did not reach anyone, as far as the platform tells. */
function isUnsent({ cause }: PmsError): boolean {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  return reason instanceof Error && 'code' in reason && reason.code === 'ECONNREFUSED';
}

/** For attempts from 0; randomized, so that many programs do not retry together. */
function backoffMs(attempt: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason if it is aborted */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

async function errorOfResponse(response: Response, about: Request['about']): Promise<PmsError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const { code, message, details } = errorIn(text, status) ?? {};
  const retryAfter = Number(headers.get('Retry-After') ?? Number.NaN);
  return errorOf(code ?? 'internal_error', message ?? `HTTP ${status}: ${text.slice(0, 200)}`, {
    ...about,
    status,
    details,
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
  });
}

interface ErrorInBody {
  code?: string;
  message?: string;
  details?: { path: string; message: string }[];
}

/** OTLP errors have gRPC codes, so the status determines the code here. */
const CODES_OF_OTLP: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  429: 'rate_limited',
  503: 'temporarily_unavailable',
};

function errorIn(text: string, status: number): ErrorInBody | undefined {
  try {
    const body: { error?: ErrorInBody; code?: unknown; message?: string } | null = JSON.parse(text);
    const code = CODES_OF_OTLP[status];
    if (typeof body?.code === 'number' && body.message !== undefined && code !== undefined)
      return { code, message: body.message };
    return body?.error;
  } catch {
    // A proxy's page.
    return undefined;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // OpenSSL's own messages are meant for its developers.
  if (cause instanceof Error && 'code' in cause && /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/.test(String(cause.code)))
    return 'the server does not speak TLS at this address: use http:// in the baseUrl';
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message;
}
