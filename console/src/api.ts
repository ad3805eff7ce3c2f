import { createParser } from 'eventsource-parser';
import { reportConnection } from './connection.ts';
import { untilSignedIn } from './session-ended.ts';
import { t } from './strings.ts';

/** An error response of the API: its code and details of each field. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: { path: string; message: string }[];

  constructor(status: number, code: string, message: string, details: ApiError['details'] = []) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** There was no response. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super(t('The service cannot be reached. Check your connection, then try again.'), { cause });
    this.name = 'NetworkError';
  }
}

/** Query parameters; undefined and empty ones are left out. */
export type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`; set its type in `headers`. */
  raw?: BodyInit | undefined;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  /** Whether to wait for a new sign-in if the session has ended, and then send the request again. Default: yes. */
  waitsForSignIn?: boolean;
}

/** Builds a path from names and ids: segments are encoded, and slashes in a name are kept. */
export function pathOf(...parts: (string | number)[]): string {
  return parts.map((part) => `/${String(part).split('/').map(encodeURIComponent).join('/')}`).join('');
}

function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/v1${path}${search === '' ? '' : `?${search}`}`;
}

/** Whether the session has ended or never existed, as opposed to lacking a permission. */
export const isSignedOut = (error: unknown) =>
  error instanceof ApiError && error.status === 401 && error.code === 'unauthorized';

async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = (body as { error?: Partial<ApiError> } | undefined)?.error;
  const message =
    error?.message ??
    t(`The service responded with status ${response.status}. Try again; if it happens again, ask your administrator.`);
  return new ApiError(response.status, error?.code ?? 'unknown', message, error?.details);
}

/**
 * Calls the API with the session cookie.
 * @param path under `/v1`, see {@link pathOf}
 * @throws ApiError, NetworkError, or the abort's own error
 */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, raw, headers, signal, waitsForSignIn = true } = options;
  let response: Response;
  try {
    response = await fetch(addressOf(path, query), {
      method,
      // A form on another site can't send this header.
      headers: {
        'X-Console': '1',
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(raw !== undefined && { body: raw }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    reportConnection('lost');
    throw new NetworkError(error);
  }
  reportConnection('there');
  if (response.ok) return response;
  const error = await errorOf(response);
  if (!waitsForSignIn || !isSignedOut(error)) throw error;
  await untilSignedIn(signal);
  return send(method, path, options);
}

/** Like {@link send}, but returns the JSON of the response. */
export async function call<Result>(method: string, path: string, options?: RequestOptions): Promise<Result> {
  const response = await send(method, path, options);
  return response.json();
}

export const get = <Result>(path: string, query?: Query, signal?: AbortSignal) =>
  call<Result>('GET', path, { query, signal });
export const post = <Result>(path: string, body: unknown = {}, options?: RequestOptions) =>
  call<Result>('POST', path, { ...options, body });
export const put = <Result>(path: string, body: unknown) => call<Result>('PUT', path, { body });
export const patch = <Result>(path: string, body: unknown) => call<Result>('PATCH', path, { body });
export const remove = <Result>(path: string) => call<Result>('DELETE', path);

/** A page of a list. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** One server-sent event; `data` is parsed. */
export interface StreamEvent {
  id: string | undefined;
  type: string;
  data: unknown;
}

/**
 * Reads a stream of server-sent events to its end.
 * @throws NetworkError if it breaks off; earlier events have been passed on
 */
export async function readEvents(response: Response, onEvent: (event: StreamEvent) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, event, data }) => onEvent({ id, type: event ?? 'message', data: JSON.parse(data) }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new NetworkError(error);
    });
    if (done) return;
    parser.feed(value);
  }
}
