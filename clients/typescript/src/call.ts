import { ServiceError } from './errors.ts';
import { OPERATIONS, type Operations } from './generated/operations.gen.ts';
import { randomKey } from './platform.ts';
import type { Request, RequestOptions, Transport } from './transport.ts';

/** What an operation takes: `path`, `query` and `body`. */
export type RequestOf<Id extends keyof Operations> = Omit<Operations[Id]['request'], 'url' | 'headers'>;
export type ResponseOf<Id extends keyof Operations> = Operations[Id]['response'];

/** Booleans and times may be what JavaScript has for them, and what is undefined is left out. */
type Given<Query> = {
  [Name in keyof Query]:
    | Query[Name]
    | ('true' extends Query[Name] ? boolean : never)
    | (Name extends 'since' | 'until' ? Date : never)
    | (Record<never, never> extends Pick<Query, Name> ? undefined : never);
};

/** What the query of an operation takes. */
export type QueryOf<Data extends { query?: unknown }, Left extends string = never> = Given<
  Omit<NonNullable<Data['query']>, Left>
>;

/** What was asked for, and the response that it came with. */
export interface WithResponse<Data> {
  data: Data;
  /** Its `status` and `headers`; its body has been read. */
  response: Response;
  /** Tells the request in the service's logs. */
  requestId: string | undefined;
}

/** A promise of what was asked for, which also gives the response that it came with: `await pms.prompts.create(…).withResponse()`. */
export interface ApiPromise<Data> extends Promise<Data> {
  withResponse(): Promise<WithResponse<Data>>;
}

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

const textOf = (value: unknown) =>
  value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);

/** What the table of operations says of one. */
export function operationOf(operation: keyof Operations) {
  const [method = '', path = '', name = '', flags = ''] = OPERATIONS[operation].split(' ');
  return { method, path, name, has: (flag: string) => flags.includes(flag) };
}

/** The HTTP request of an operation. */
export function toRequest<Id extends keyof Operations>(
  operation: Id,
  { path = {}, query = {}, body }: AnyRequest,
  { idempotencyKey, headers, ...options }: CallOptions = {},
): Request {
  const { method, path: template, has } = operationOf(operation);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // The path of something else would be left.
    if (value === undefined || value === null || value === '') throw new TypeError(`${operation} needs a ${name}.`);
    return encodeURIComponent(textOf(value));
  });
  const search = new URLSearchParams();
  // A list is a parameter that is given once for each item.
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

/** Makes a request, and gives what `read` takes from its response, and that on demand. @throws PmsError */
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
    // Who waits for the answer hears of its error there.
    data.catch(() => undefined);
    return answer;
  };
  return Object.assign(data, { withResponse });
}

/** Calls an operation, and gives its response as JSON, or as text where it is none. */
export function call<Id extends keyof Operations>(
  transport: Transport,
  operation: Id,
  request: RequestOf<Id>,
  options?: CallOptions,
): ApiPromise<ResponseOf<Id>> {
  const read = operationOf(operation).has('t') ? textIn<Id> : bodyOf<Id>;
  return answerOf(transport, () => toRequest(operation, request, options), read);
}

/** The body of a response whose text is wanted as it is. */
async function textIn<Id extends keyof Operations>(response: Response): Promise<ResponseOf<Id>> {
  return (await response.text()) as ResponseOf<Id>;
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
