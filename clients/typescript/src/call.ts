import { ServiceError } from './errors.ts';
import { OPERATIONS, type Operations } from './generated/operations.gen.ts';
import { randomKey } from './platform.ts';
import type { Request, RequestOptions, Transport } from './transport.ts';

/** The parameters of an operation: `path`, `query` and `body`. */
export type RequestOf<Id extends keyof Operations> = Omit<Operations[Id]['request'], 'url' | 'headers'>;
export type ResponseOf<Id extends keyof Operations> = Operations[Id]['response'];

/** Booleans and times can be JavaScript values, and undefined parameters are left out. */
type Given<Query> = {
  [Name in keyof Query]:
    | Query[Name]
    | ('true' extends Query[Name] ? boolean : never)
    | (Name extends 'since' | 'until' ? Date : never)
    | (Record<never, never> extends Pick<Query, Name> ? undefined : never);
};

/** The query parameters of an operation. */
export type QueryOf<Data extends { query?: unknown }, Left extends string = never> = Given<
  Omit<NonNullable<Data['query']>, Left>
>;

/** The result, with the response that contained it. */
export interface WithResponse<Data> {
  data: Data;
  /** Its `status` and `headers`; its body has been read. */
  response: Response;
  /** Identifies the request in the service's logs. */
  requestId: string | undefined;
}

/** A promise of the result that also provides its response: `await pms.prompts.create(…).withResponse()`. */
export interface ApiPromise<Data> extends Promise<Data> {
  withResponse(): Promise<WithResponse<Data>>;
}

/** Options of a call; an `idempotencyKey` is generated for operations that accept one. */
export interface CallOptions extends RequestOptions {
  /** Identifies repeated requests. Default: generated for each call, so that it can be repeated safely. */
  idempotencyKey?: string | undefined;
}

/** Operations that change nothing, or are idempotent. */
const HARMLESS: ReadonlySet<keyof Operations> = new Set([
  'resolvePrompts',
  'setPromptLabel',
  'storeEvaluationResults',
  'ingestTraces',
  'finishEvaluation',
]);

/** A body that is sent unchanged, such as an upload. */
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

const textOf = (value: unknown) =>
  value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);

/** The table entry of an operation. */
export function operationOf(operation: keyof Operations) {
  const [method = '', path = '', name = '', flags = ''] = OPERATIONS[operation].split(' ');
  return { method, path, name, has: (flag: string) => flags.includes(flag) };
}

/** Builds the HTTP request of an operation. */
export function toRequest<Id extends keyof Operations>(
  operation: Id,
  { path = {}, query = {}, body }: AnyRequest,
  { idempotencyKey, headers, ...options }: CallOptions = {},
): Request {
  const { method, path: template, has } = operationOf(operation);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // Without it, the path would be that of another operation.
    if (value === undefined || value === null || value === '') throw new TypeError(`${operation} needs a ${name}.`);
    return encodeURIComponent(textOf(value));
  });
  const search = new URLSearchParams();
  // A list is sent as a repeated parameter.
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, textOf(each));
  const key = has('i') ? (idempotencyKey ?? randomKey()) : undefined;
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

/** Sends a request, and returns what `read` takes from its response, lazily with the response. @throws PmsError */
export function answerOf<Data>(
  transport: Transport,
  request: () => Request,
  read: (response: Response) => Promise<Data>,
): ApiPromise<Data> {
  const answer = (async () =>
    transport(request(), async (response): Promise<WithResponse<Data>> => {
      const requestId = response.headers.get('X-Request-Id') ?? undefined;
      return { data: await read(response), response, requestId };
    }))();
  const data = answer.then((each) => each.data);
  const withResponse = () => {
    // Callers that await the result get its error there.
    data.catch(() => undefined);
    return answer;
  };
  return Object.assign(data, { withResponse });
}

/** Calls an operation, and returns its response as JSON, or as text if it is not JSON. */
export function call<Id extends keyof Operations>(
  transport: Transport,
  operation: Id,
  request: RequestOf<Id>,
  options?: CallOptions,
): ApiPromise<ResponseOf<Id>> {
  const read = operationOf(operation).has('t') ? textIn<Id> : bodyOf<Id>;
  return answerOf(transport, () => toRequest(operation, request, options), read);
}

/** The response body as text. */
async function textIn<Id extends keyof Operations>(response: Response): Promise<ResponseOf<Id>> {
  return (await response.text()) as ResponseOf<Id>;
}

/** @throws ServiceError if the response is an HTML page, which the service never sends */
export async function bodyOf<Id extends keyof Operations>(response: Response): Promise<ResponseOf<Id>> {
  const contentType = response.headers.get('Content-Type') ?? '';
  if (/^text\/html\b/i.test(contentType)) {
    const message = `${response.url} answered with a page of HTML, which is not of the service: is the base URL right?`;
    throw new ServiceError('unexpected_response', message, { status: response.status });
  }
  const isJson = /\bjson\b/.test(contentType);
  // The service conforms to its document.
  return (isJson ? await response.json() : await response.text()) as ResponseOf<Id>;
}
