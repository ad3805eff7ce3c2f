import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { WorkspaceDatabase } from '../db/database.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';
import { callerAddress, cameByHttps } from './client-address.ts';
import type { RouteRequest } from './route.ts';

/** What was read and checked of a request before its handler runs. */
interface Parsed {
  params: unknown;
  query: unknown;
  body: unknown;
  raw: Buffer;
  db: WorkspaceDatabase;
  key: AuthenticatedKey;
  requestId: string;
  /** Aborted at shutdown: requests that wait are responded to with the current state. */
  closing: AbortSignal;
}

/** A request as a route's handler gets it. What few handlers need is made when it is asked for: reads are frequent and short. */
export class HttpRequest implements RouteRequest<unknown, unknown, unknown> {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly db: WorkspaceDatabase;
  readonly key: AuthenticatedKey;
  readonly requestId: string;
  readonly #ctx: Context;
  readonly #raw: Buffer;
  readonly #closing: AbortSignal;
  #signal: AbortSignal | undefined;

  constructor(ctx: Context, { params, query, body, raw, db, key, requestId, closing }: Parsed) {
    this.#ctx = ctx;
    this.#raw = raw;
    this.#closing = closing;
    this.params = params;
    this.query = query;
    this.body = body;
    this.db = db;
    this.key = key;
    this.requestId = requestId;
  }

  get address(): string {
    return callerAddress(this.#ctx) ?? 'unknown';
  }

  get isHttps(): boolean {
    return cameByHttps(this.#ctx.req, this.#ctx.app.proxy);
  }

  get stream(): IncomingMessage {
    return this.#ctx.req;
  }

  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    const { res } = this.#ctx;
    const gone = new AbortController();
    this.#signal = AbortSignal.any([gone.signal, this.#closing]);
    // A response that was sent in full closes, too: then the caller has not gone away.
    const check = () => {
      if (!res.writableFinished) gone.abort();
    };
    if (res.closed) check();
    else res.once('close', check);
    return this.#signal;
  }

  get requestHash(): Buffer {
    return createHash('sha256').update(`${this.#ctx.method} ${this.#ctx.path}\n`).update(this.#raw).digest();
  }

  header(name: string): string | undefined {
    const value = this.#ctx.req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  }

  accepts(...types: string[]): string | false {
    return this.#ctx.accepts(...types);
  }

  setHeader(name: string, value: string): void {
    this.#ctx.set(name, value);
  }
}
