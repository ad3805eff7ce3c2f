import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { WorkspaceDatabase } from '../db/database.ts';
import type { AuthenticatedKey } from '../services/access/authenticate.ts';
import { callerAddress, cameByHttps } from './client-address.ts';
import type { Handling } from './large-work.ts';
import type { RouteRequest } from './route.ts';

/** The parsed and validated parts of a request before its handler runs. */
interface Parsed {
  params: unknown;
  query: unknown;
  body: unknown;
  raw: Buffer;
  db: WorkspaceDatabase;
  key: AuthenticatedKey;
  requestId: string;
  signal: () => AbortSignal;
  handling: Handling;
}

const goneBy = new WeakMap<ServerResponse, AbortSignal>();

/**
 * @returns a function that returns a signal, one per response, which aborts when the caller disconnects. Created lazily: few
 * requests wait.
 */
export function goneOf(res: ServerResponse): () => AbortSignal {
  return () => {
    const known = goneBy.get(res);
    if (known !== undefined) return known;
    const made = new AbortController();
    goneBy.set(res, made.signal);
    // A fully sent response closes, too, which is not a disconnect.
    const check = () => {
      if (!res.writableFinished) made.abort();
    };
    if (res.closed) check();
    else res.once('close', check);
    return made.signal;
  };
}

/**
 * Returns a signal for when to stop waiting.
 * @param gone signal for a disconnected caller
 * @param closing aborted at shutdown: waiting requests get the current state as their response
 */
export function signalOf(gone: () => AbortSignal, closing: AbortSignal): () => AbortSignal {
  let signal: AbortSignal | undefined;
  return () => {
    signal ??= AbortSignal.any([gone(), closing]);
    return signal;
  };
}

/**
 * A request as seen by a route's handler. Parts that few handlers need are created lazily because reads are frequent and short.
 */
export class HttpRequest implements RouteRequest<unknown, unknown, unknown> {
  readonly params: unknown;
  readonly query: unknown;
  body: unknown;
  readonly db: WorkspaceDatabase;
  readonly key: AuthenticatedKey;
  readonly requestId: string;
  readonly #ctx: Context;
  readonly #handling: Handling;
  #raw: Buffer;
  readonly #signal: () => AbortSignal;
  #hash: Buffer | undefined;

  constructor(ctx: Context, { params, query, body, raw, db, key, requestId, signal, handling }: Parsed) {
    this.#ctx = ctx;
    this.#raw = raw;
    this.#signal = signal;
    this.#handling = handling;
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
    return this.#signal();
  }

  get requestHash(): Buffer {
    this.#hash ??= createHash('sha256').update(`${this.#ctx.method} ${this.#ctx.path}\n`).update(this.#raw).digest();
    return this.#hash;
  }

  reserve(bytes: number): Promise<void> {
    return this.#handling.reserve(bytes);
  }

  turn(bytes: number): Promise<() => void> {
    return this.#handling.turn(bytes);
  }

  dealtWith(): void {
    // A request that waits minutes for a run must not retain its body.
    this.body = undefined;
    this.#raw = Buffer.alloc(0);
    this.#handling.dealtWith();
  }

  endTurn(): void {
    this.#handling.endTurn();
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
