import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { WorkspaceDatabase } from '../db/database.ts';
import type { AuditAction } from '../domain/audit.ts';
import type { ApiError, ErrorCode } from '../domain/errors.ts';
import type { Scope } from '../services/access/api-keys.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';
import { hiddenFields } from './unread.ts';

/** What a handler is given: parsed input and the caller's workspace. */
export interface RouteRequest<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  db: WorkspaceDatabase;
  key: AuthenticatedKey;
  requestId: string;
  /** The caller's. */
  address: string;
  /** Whether the caller came by https. */
  isHttps: boolean;
  /** A request header; the first where it was sent more than once. */
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  /** Which of these content types the caller would rather have, by `Accept`; the first where it does not matter. False: none. */
  accepts(...types: string[]): string | false;
  /** The raw request, for routes whose `body` is `stream`. */
  stream: IncomingMessage;
  /** Aborted when the caller has gone away. */
  signal: AbortSignal;
  /** SHA-256 over method, path and body: tells whether a repeated request is the same one. */
  requestHash: Buffer;
  /**
   * Waits until there is memory for what is about to be read and shown; it is given back when the response was sent. For what may take more
   * than some dozens of KiB.
   * @param bytes of the texts that are read
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Waits for a turn at a part of a body that the handler reads itself; a small one has it at once.
   * @returns ends the turn
   */
  turn(bytes: number): Promise<() => void>;
  /** Says that the body is dealt with, and only waiting is left: others may go on with theirs. */
  dealtWith(): void;
  /** Says that the body is still needed, but is not worked on any more: others may work on theirs. What it takes of the memory stays taken. */
  endTurn(): void;
}

/** A response that is not JSON. */
export class RawResponse {
  readonly contentType: string;
  readonly body: string | Buffer | NodeJS.ReadableStream;
  readonly headers: Record<string, string>;
  /** Default: the route's. */
  readonly status: number | undefined;

  constructor(
    contentType: string,
    body: string | Buffer | NodeJS.ReadableStream,
    headers: Record<string, string> = {},
    status?: number,
  ) {
    this.contentType = contentType;
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

/** How an operation says what went wrong. */
export interface ErrorFormat {
  /** Before the names of its responses in the OpenAPI document. */
  name: string;
  /** Of the response's body. */
  schema: z.ZodType;
  present: (error: ApiError) => unknown;
  /** The status of a code, where a protocol has another one. Default: that of the API. */
  statusOf?: ((code: ErrorCode) => number | undefined) | undefined;
  /** The body of an error, where it is not JSON. @param contentType of the request @returns undefined: as JSON */
  encode?: (error: ApiError, contentType: string) => { contentType: string; body: Buffer } | undefined;
}

/** What an operation that changes something records in the audit log (`recordChange`); `none`: it says why. */
type Audited =
  | { method: 'get'; audit?: undefined }
  | { method: 'post' | 'put' | 'patch' | 'delete'; audit: readonly AuditAction[] | 'none' };

/** One operation of the API: everything that routing, validation, authorisation and the OpenAPI document need. */
export type RouteSpec<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> = Audited & RouteParts<Params, Query, Body>;

interface RouteParts<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  /** Under `/v1`. `{name}` of a prompt or dataset may hold slashes. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** What the key needs; of several scopes any one. `SCOPES`: every key will do. */
  scope: Scope | readonly Scope[];
  /** What the key needs besides: that of what the operation sends elsewhere. */
  alsoScope?: Scope;
  /**
   * For an operation that is no read, where the key lacks `read`: fields of the response that it shows though they are not marked as shown
   * (`http/unread.ts`), since its request has said them or made them; and those that it hides though they are.
   */
  shows?: readonly string[];
  hides?: readonly string[];
  /** Gives the caller's key, where the body has it in place of the header or a cookie. */
  keyOf?: ((body: z.output<Body>) => string) | undefined;
  /**
   * For pages of any origin, with a token in place of a key: whose workspace a token is of, undefined where it is not valid. It asks no one. The
   * request's `key` has no scopes then.
   */
  workspaceOfToken?: (token: string) => string | undefined;
  /** A person does it, signed in at the console: no key, whatever its scopes. */
  bySession?: true;
  /**
   * Anyone may call it, within a limit by address; a page of another origin may not. The request's `key` has no scopes then, and its `db` no workspace.
   */
  withoutKey?: true;
  status?: 200 | 201;
  params?: Params;
  query?: Query;
  /** Parameters of `query` that may be given more than once; its schema takes a string or a list. */
  repeatable?: readonly string[];
  /** A schema: JSON. `stream`: the handler reads the request itself. Absent: no body is expected. */
  body?: Body | 'stream';
  /** Of a JSON body, or of one that is `binary`. Default: 1 MiB. */
  maxBodyBytes?: number;
  /**
   * The body is passed as it came, whatever its type and encoding: the handler parses it. `body` is a schema of bytes; this is that of JSON, for the
   * documentation.
   */
  binary?: z.ZodType;
  /** Other paths of the same operation, from the root on, such as those that SDKs append to an address. */
  aliases?: readonly string[];
  /** A key may come as the password of Basic authentication, too. */
  basicAuth?: true;
  /** No body means an empty object. */
  bodyOptional?: boolean;
  /** Samples of the body for the documentation, by title. */
  bodyExamples?: Record<string, unknown>;
  response: z.ZodType;
  responseExample: unknown;
  /** Default: `application/json`. */
  responseContentType?: string;
  /** Content types other than JSON that the response may have, or (`accepts`) that a `stream` body may have. */
  otherContentTypes?: string[];
  accepts?: string[];
  /** Errors beyond those that every operation can give. */
  errors?: ErrorCode[];
  /** Default: that of the API. Paths that can be mistaken for one another have the same, but for their method. */
  errorFormat?: ErrorFormat;
  /** Headers that the handler reads, for the documentation. `Idempotency-Key` is there by itself. */
  headers?: z.ZodObject;
  /** Whether `Idempotency-Key` is honoured (every POST that creates). */
  idempotent?: boolean;
  handler(request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<unknown>;
}

/** A route with its types forgotten, as the router and the document see it. */
export type Route = Omit<RouteSpec, 'handler' | 'keyOf'> & {
  /** Fields of the response that are hidden from keys without `read`, and what stands in their place; undefined: none. */
  withoutRead?: Record<string, unknown> | undefined;
  keyOf?: ((body: unknown) => string) | undefined;
  handler(request: RouteRequest<unknown, unknown, unknown>): Promise<unknown>;
};

/** The scopes of which a key needs one. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): readonly Scope[] =>
  typeof scope === 'string' ? [scope] : scope;

/** Whether a key without `read` can call an operation, which is no read then. */
export function isCalledUnread(route: Pick<Route, 'scope' | 'alsoScope'>): boolean {
  const scopes = scopesOf(route);
  return route.alsoScope !== 'read' && !scopes.includes('read') && scopes.some((scope) => scope !== 'admin');
}

/**
 * Declares an operation; the handler's input has the types of its schemas.
 * What is passed to the handler was parsed with these very schemas, so forgetting the types here is sound.
 */
export function defineRoute<
  Params extends z.ZodType = z.ZodType<undefined>,
  Query extends z.ZodType = z.ZodType<undefined>,
  Body extends z.ZodType = z.ZodType<undefined>,
>(spec: RouteSpec<Params, Query, Body>): Route {
  const { keyOf } = spec;
  const hidden = isCalledUnread(spec) ? hiddenFields(spec) : {};
  return {
    ...spec,
    withoutRead: Object.keys(hidden).length === 0 ? undefined : hidden,
    keyOf: keyOf && ((body) => keyOf(parsedAs<z.output<Body>>(body))),
    handler: (request) =>
      spec.handler(parsedAs<RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>>(request)),
  };
}

function parsedAs<T>(value: unknown): T {
  return value as T;
}
