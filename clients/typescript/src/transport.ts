import { ConnectionError, errorOf, PmsError } from './errors.ts';
import { environment } from './platform.ts';

/** How requests are made. */
export interface TransportOptions {
  /** Where the service is, such as `https://prompts.example.com`; `/v1` may follow. Default: `PMS_BASE_URL` of the environment */
  baseUrl?: string | undefined;
  /** A key of the service, or what gives one for each request; null sends none. Default: `PMS_API_KEY` of the environment */
  apiKey?: string | (() => string | Promise<string>) | null | undefined;
  /** Default: the platform's. */
  fetch?: typeof fetch;
  /** For a response, or the beginning of a stream, in milliseconds. Default: 90,000 */
  timeoutMs?: number;
  /** For how long a request that keeps failing is made again, from its first failure on, in milliseconds. 0: never. Default: 120,000 */
  retryForMs?: number;
  /** How often at most. Default: as often as `retryForMs` allows */
  maxRetries?: number;
  /** Told of each failure after which a request is made again, and of the pause before that. */
  onRetry?: (error: PmsError, pauseMs: number) => void;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
}

/** What a single request can have of its own. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  retryForMs?: number | undefined;
  maxRetries?: number | undefined;
  /** Called as well as that of the client. */
  onRetry?: ((error: PmsError, pauseMs: number) => void) | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface Request extends RequestOptions {
  method: string;
  /** Under `/v1`, with its parameters filled in. */
  path: string;
  body?: RequestInit['body'] | undefined;
  /** Whether making it twice is the same as making it once, so that it can be made again where its response was lost. */
  isRepeatable: boolean;
  /** Whether the body is read on after `read`; the signal then ends that, too. */
  isStreamed?: boolean | undefined;
  /** What its errors tell besides. */
  about?: { idempotencyKey: string | undefined; executionId: string | undefined } | undefined;
}

/**
 * Makes a request, again where that may help.
 * @param read takes what is wanted from a response; where the connection breaks meanwhile, the request may be made again
 * @throws PmsError for a response that is not a success, and for none
 */
export type Transport = <Result>(request: Request, read: (response: Response) => Promise<Result>) => Promise<Result>;

const TIMEOUT_MS = 90_000;
/** A restart, an upgrade or a failover is over by then. */
export const RETRY_FOR_MS = 120_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;

/**
 * The base of all paths. A URL with a user and password is refused without showing it; `fetch` refuses it, too, and shows it.
 * @throws TypeError
 */
function rootOf(baseUrl: string): string {
  const base = baseUrl.trim().replace(/\/+$/, '').replace(/\/v1$/, '');
  let url: URL | undefined;
  try {
    // Without a scheme, `localhost:3000` is a URL of the scheme `localhost:`.
    if (/^https?:\/\//i.test(base)) url = new URL(base);
  } catch {
    // Said below.
  }
  if (url === undefined || url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'The baseUrl must be an http or https URL without a user, password or query, such as http://127.0.0.1:3000. Change baseUrl or PMS_BASE_URL.',
    );
  return `${base}/v1`;
}

/** A key without the white space around it, which files end with. @throws TypeError, which does not show the key, if no header can hold it */
function trimmedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key === '') throw new TypeError('The API key is empty. Set apiKey or PMS_API_KEY to a key of the service.');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('The API key has white space or a character that is not ASCII. Copy the key again.');
  return key;
}

/** @throws TypeError where neither the options nor the environment say where the service is, or which key to use */
export function createTransport({
  baseUrl = environment('PMS_BASE_URL'),
  apiKey = environment('PMS_API_KEY'),
  headers,
  ...options
}: TransportOptions): Transport {
  if (!baseUrl)
    throw new TypeError('Give baseUrl, or set PMS_BASE_URL: the address of the service, http://127.0.0.1:3000.');
  if (apiKey === undefined) throw new TypeError('Give apiKey, or set PMS_API_KEY: a key of the service.');
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
      // Read each time: programs and tests may replace it.
      const request = options.fetch ?? fetch;
      const init: RequestInit & { duplex?: 'half' } = { method, headers: all, signal: timeout.signal };
      if (body !== undefined) init.body = body;
      if (body instanceof ReadableStream) init.duplex = 'half';
      // Where a redirect could follow, fetch keeps all of the body in memory to send it again.
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

/** How long something that keeps failing is tried again. */
export interface Patience {
  /** How long to wait after another failure; undefined where it is not worth while any more. */
  pauseAfter(error: PmsError): number | undefined;
  /** It has worked: what fails later fails for the first time. */
  reset(): void;
}

/** By the time since the first failure, since a service that restarts is away for a time and not for a number of requests. */
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

/** Whether nobody can have got the request, as far as the platform says so. */
function isUnsent({ cause }: PmsError): boolean {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  return reason instanceof Error && 'code' in reason && reason.code === 'ECONNREFUSED';
}

/** Of attempts from 0 on; spread, so that many programs do not come at once. */
function backoffMs(attempt: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason where it is aborted first */
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
  const { code, message, details } = errorIn(text) ?? {};
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

function errorIn(text: string): ErrorInBody | undefined {
  try {
    return (JSON.parse(text) as { error?: ErrorInBody } | null)?.error;
  } catch {
    // A proxy's page.
    return undefined;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // OpenSSL's own words are for its developers.
  if (cause instanceof Error && 'code' in cause && /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/.test(String(cause.code)))
    return 'the server does not speak TLS at this address: use http:// in the baseUrl';
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message;
}
