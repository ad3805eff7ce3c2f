import { ServiceError } from './errors.ts';
import { IDEMPOTENT, OPERATIONS, type Operations } from './generated/operations.gen.ts';
import { randomKey } from './platform.ts';
import type { Request, RequestOptions, Transport } from './transport.ts';

/** What an operation takes: `path`, `query` and `body`. */
export type RequestOf<Id extends keyof Operations> = Omit<Operations[Id]['request'], 'url' | 'headers'>;
export type ResponseOf<Id extends keyof Operations> = Operations[Id]['response'];

/** Options of a call; an `idempotencyKey` is made for operations that take one. */
export interface CallOptions extends RequestOptions {
  /** Tells repeated requests apart. Default: one is made for each call, so that it can be repeated safely. */
  idempotencyKey?: string | undefined;
}

/** Operations that change nothing, or the same thing, however often they are called. */
const HARMLESS: ReadonlySet<keyof Operations> = new Set([
  'resolvePrompts',
  'setPromptLabel',
  'storeEvaluationResults',
  'finishEvaluation',
]);

/** A body that is sent as it is, as uploads are. */
type RawBody = Blob | ReadableStream | Uint8Array<ArrayBuffer> | string;

interface AnyRequest {
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

function isRaw(body: unknown): body is RawBody {
  return (
    typeof body === 'string' || body instanceof Uint8Array || body instanceof Blob || body instanceof ReadableStream
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The HTTP request of an operation. */
export function toRequest<Id extends keyof Operations>(
  operation: Id,
  { path = {}, query = {}, body }: AnyRequest,
  { idempotencyKey, headers, ...options }: CallOptions = {},
): Request {
  const [method = '', template = ''] = OPERATIONS[operation].split(' ');
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(path[name])));
  const search = new URLSearchParams();
  // A list is a parameter that is given once for each item.
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, textOf(each));
  const key = IDEMPOTENT.has(operation) ? (idempotencyKey ?? randomKey()) : undefined;
  const { id } = path;
  return {
    ...options,
    about: {
      idempotencyKey: key ?? idempotencyKey,
      executionId: typeof id === 'string' && id.startsWith('exec_') ? id : undefined,
    },
    method,
    path: search.size === 0 ? filled : `${filled}?${search}`,
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    isRepeatable: method === 'GET' || key !== undefined || HARMLESS.has(operation),
    headers: {
      ...(body !== undefined && !isRaw(body) && { 'Content-Type': 'application/json' }),
      'Idempotency-Key': key,
      ...headers,
    },
  };
}

/** Calls an operation, and gives its response as JSON, or as text where it is none. */
export function call<Id extends keyof Operations>(
  transport: Transport,
  operation: Id,
  request: RequestOf<Id>,
  options?: CallOptions,
): Promise<ResponseOf<Id>> {
  return transport(toRequest(operation, request, options), bodyOf<Id>);
}

/** @throws ServiceError where the response is a page, which the service never sends */
export async function bodyOf<Id extends keyof Operations>(response: Response): Promise<ResponseOf<Id>> {
  const contentType = response.headers.get('Content-Type') ?? '';
  if (/^text\/html\b/i.test(contentType)) {
    const message = `${response.url} answered with a page of HTML, which is not of the service: is the base URL right?`;
    throw new ServiceError('unexpected_response', message, { status: response.status });
  }
  const isJson = /\bjson\b/.test(contentType);
  // The service keeps to its document.
  return (isJson ? await response.json() : await response.text()) as ResponseOf<Id>;
}
