import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { WorkspaceDatabase } from '../db/database.ts';
import type { AuditAction } from '../domain/audit.ts';
import type { ApiError, ErrorCode } from '../domain/errors.ts';
import type { Scope } from '../services/access/api-keys.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';
import { hiddenFields } from './unread.ts';

/** The input of a handler: parsed parts and the caller's workspace. */
export interface RouteRequest<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  db: WorkspaceDatabase;
  key: AuthenticatedKey;
  requestId: string;
  /** The caller's address. */
  address: string;
  /** Whether the caller used HTTPS. */
  isHttps: boolean;
  /** A request header; the first if it was sent several times. */
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  /** The content type that the caller prefers according to `Accept`; the first if there is no preference. False if none. */
  accepts(...types: string[]): string | false;
  /** The raw request, for routes whose `body` is `stream`. */
  stream: IncomingMessage;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** SHA-256 over method, path and body: identifies repeated requests. */
  requestHash: Buffer;
  /**
   * Waits until there is memory for the response that is about to be read; released when the response was sent. For anything above some
   * dozens of KiB.
   * @param bytes of the texts to read
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Waits for a turn for part of a body that the handler reads itself; a small one does not wait.
   * @returns ends the turn
   */
  turn(bytes: number): Promise<() => void>;
  /** Declares the body processed, with only waiting left: others can continue with theirs. */
  dealtWith(): void;
  /** Declares that the body is still needed, but not being processed: others can process theirs. Its memory stays reserved. */
  endTurn(): void;
}

/** A response that is not JSON. */
export class RawResponse {
  readonly contentType: string;
  readonly body: string | Buffer | NodeJS.ReadableStream;
  readonly headers: Record<string, string>;
  /** Default: the status of the route. */
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

/** An error format of operations. */
export interface ErrorFormat {
  /** Prefix of its response names in the OpenAPI document. */
  name: string;
  /** Schema of the response body. */
  schema: z.ZodType;
  present: (error: ApiError) => unknown;
  /** The status of a code, if the protocol uses another one. Default: the API's. */
  statusOf?: ((code: ErrorCode) => number | undefined) | undefined;
  /** The body of an error, if it is not JSON. @param contentType of the request @returns undefined for JSON */
  encode?: (error: ApiError, contentType: string) => { contentType: string; body: Buffer } | undefined;
}

/** The audit log entry of an operation that changes something (`recordChange`), or `none`. */
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
  /** Relative to `/v1`. `{name}` of a prompt or dataset can contain slashes. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** The scope that the key needs, or any one of several. `SCOPES`: every key works. */
  scope: Scope | readonly Scope[];
  /** An additional scope, for data that the operation sends elsewhere. */
  alsoScope?: Scope;
  /**
   * For a write operation called with a key without `read`: response fields that it shows although they are not marked as shown
   * (`http/unread.ts`), because its request sent or created them; and fields that it hides although they are marked.
   */
  shows?: readonly string[];
  hides?: readonly string[];
  /** Returns the caller's key, if the body has it instead of the header or a cookie. */
  keyOf?: ((body: z.output<Body>) => string) | undefined;
  /**
   * For pages of any origin, with a token instead of a key: returns the workspace of a token, undefined if it is invalid, without any
   * request. The request's `key` then has no scopes.
   */
  workspaceOfToken?: (token: string) => string | undefined;
  /** Requires a person signed in at the console: no key is enough, whatever its scopes. */
  bySession?: true;
  /**
   * Anyone can call it within a limit per address, except pages of other origins. The request's `key` then has no scopes, and its `db` no
   * workspace.
   */
  withoutKey?: true;
  status?: 200 | 201;
  params?: Params;
  query?: Query;
  /** Parameters of `query` that are repeatable; its schema accepts a string or a list. */
  repeatable?: readonly string[];
  /** A schema for JSON. `stream`: the handler reads the request itself. Absent: no body is expected. */
  body?: Body | 'stream';
  /** For a JSON or `binary` body. Default: 1 MiB. */
  maxBodyBytes?: number;
  /**
   * The body is passed on as received, whatever its type and encoding, and the handler parses it. `body` is then a schema of bytes; this
   * is the JSON schema for the documentation.
   */
  binary?: z.ZodType;
  /** Other absolute paths of the same operation, such as those that SDKs append to an address. */
  aliases?: readonly string[];
  /** A key can also be the password of Basic authentication. */
  basicAuth?: true;
  /** Whether no body means an empty object. */
  bodyOptional?: boolean;
  /** Samples of the body for the documentation, by title. */
  bodyExamples?: Record<string, unknown>;
  response: z.ZodType;
  responseExample: unknown;
  /** Default: `application/json`. */
  responseContentType?: string;
  /** Additional content types of the response or, for `accepts`, of a `stream` body. */
  otherContentTypes?: string[];
  accepts?: string[];
  /** Errors in addition to those of every operation. */
  errors?: ErrorCode[];
  /** Default: the API's. Paths that differ only by method, or can be confused, share it. */
  errorFormat?: ErrorFormat;
  /** Headers that the handler reads, for the documentation. `Idempotency-Key` is added automatically. */
  headers?: z.ZodObject;
  /** Whether `Idempotency-Key` is supported (every POST that creates). */
  idempotent?: boolean;
  handler(request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<unknown>;
}

/** A route without its types, for the router and the document. */
export type Route = Omit<RouteSpec, 'handler' | 'keyOf'> & {
  /** Response fields hidden from keys without `read`, with their replacements; undefined if none. */
  withoutRead?: Record<string, unknown> | undefined;
  keyOf?: ((body: unknown) => string) | undefined;
  handler(request: RouteRequest<unknown, unknown, unknown>): Promise<unknown>;
};

/** The scopes of which a key needs at least one. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): readonly Scope[] =>
  typeof scope === 'string' ? [scope] : scope;

/** Whether a key without `read` can call an operation, which is then not a read. */
export function isCalledUnread(route: Pick<Route, 'scope' | 'alsoScope'>): boolean {
  const scopes = scopesOf(route);
  return route.alsoScope !== 'read' && !scopes.includes('read') && scopes.some((scope) => scope !== 'admin');
}

/**
 * Declares an operation; the handler's input has the types of its schemas. The handler's input was parsed with these very
 * schemas, so dropping the types here is sound.
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
