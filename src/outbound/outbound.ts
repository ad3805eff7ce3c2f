import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { createGuardedConnector, RefusedAddressError } from './connector.ts';
import { withDeadline } from './deadline.ts';
import type { OwnServers } from './own-servers.ts';
import { EndlessResponseError, reasonOf } from './reasons.ts';
import { failureOfStatus, KEPT_BYTES, type ReceivedResponse, readResponse, textOf } from './response.ts';
import { type AllowPrivate, targetProblem } from './target.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum number of responses with a 1xx status before the final one. */
const MAX_INTERIM_RESPONSES = 20;

/**
 * Idle connections are closed after this time. If a receiver closes one first, while a request is in flight, the request fails:
 * whether it was processed is unknown, so only the next attempt of the delivery retries it. Hardly any server closes an idle
 * connection before 2 s.
 */
const IDLE_MS = 1_000;
/** The upper limit for a receiver's `Keep-Alive: timeout=`, which is shortened by a second. */
const MAX_IDLE_MS = 4_000;
const IDLE_MARGIN_MS = 1_000;

/** Headers that only this module sets: the target, and no content encoding of the response. */
const OWN_HEADERS = new Set(['host', 'accept-encoding']);

/** The span that caused a request, possibly long ago. */
export interface OutboundCause {
  /** In W3C Trace Context format. */
  traceparent: string;
  /** Whether it is sent again for a separate reason: it then starts a trace with a link to that span. */
  isAnew: boolean;
}

export interface OutboundRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** For the whole request. Default and maximum: the client's. */
  timeoutMs?: number;
  /** How much of the response body is kept; at most the 64 KiB that are read. Default: 1 KiB. */
  maxKeptBytes?: number;
  signal?: AbortSignal;
  /** The purpose of the request, only for operators; receivers do not see it. */
  cause?: OutboundCause;
}

export interface OutboundResult {
  /** Null if no complete response arrived, unless the status itself is the failure. */
  status: number | null;
  /** The start of the response body as text: UTF-8 with replacement characters and without U+0000. Null if there was none. */
  body: string | null;
  /**
   * A plain reason, without path, query or header. Null if and only if the status is 2xx and the response was complete in time.
   */
  error: string | null;
  /** Nothing was sent because the policy does not allow the address. */
  refused: boolean;
  durationMs: number;
}

export interface Outbound {
  /**
   * Posts once, without redirects or retries. At most 64 KiB of the response are read, and never decompressed; a longer one
   * counts as complete there.
   *
   * Throws only if `signal` is aborted: its reason.
   */
  post(request: OutboundRequest): Promise<OutboundResult>;
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  allowPrivate: AllowPrivate;
  /** For a whole request, from DNS lookup to the last byte of the response; a request can have less. */
  timeoutMs: number;
  /** Servers that never get a request, whatever the policy allows; default none. */
  own?: OwnServers | undefined;
  /** Replaces the system's lookup in tests. */
  lookup?: LookupFunction;
  /** Trusted certificates (PEM) instead of the default ones, for tests. */
  ca?: string;
}

export function createOutbound({ allowPrivate, timeoutMs, ...connection }: OutboundOptions): Outbound {
  const agent = new Agent({
    connect: createGuardedConnector({ allowPrivate, timeoutMs, ...connection }),
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The limit on the whole request covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
  });
  let closed: Promise<void> | undefined;
  return {
    async post(request) {
      refuseInTransaction('A receiver');
      request.signal?.throwIfAborted();
      const startedAt = performance.now();
      const problem = targetProblem(request.url, allowPrivate);
      const outcome =
        problem === undefined
          ? await send(agent, { timeoutMs, ...request })
          : { status: null, body: null, error: problem, refused: true };
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    },
    close() {
      closed ??= agent.close();
      return closed;
    },
  };
}

async function send(
  agent: Agent,
  { url, headers, body, timeoutMs, maxKeptBytes = KEPT_BYTES, signal }: OutboundRequest & { timeoutMs: number },
): Promise<Omit<OutboundResult, 'durationMs'>> {
  const { origin, pathname, search } = new URL(url);
  const received: ReceivedResponse = { status: null, start: Buffer.alloc(0), maxKeptBytes };
  const exchange = (giveUp: AbortController) => {
    let interim = 0;
    const response = agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: withOwnHeaders(headers),
      body,
      signal: giveUp.signal,
      onInfo() {
        interim += 1;
        if (interim > MAX_INTERIM_RESPONSES) giveUp.abort(new EndlessResponseError());
      },
    });
    return readResponse(received, response);
  };
  try {
    await withDeadline(timeoutMs, signal, exchange);
    return outcomeOf(received, null);
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    return { ...outcomeOf(received, reasonOf(error, timeoutMs)), refused: error instanceof RefusedAddressError };
  }
}

/** A failure status is more informative than an error while reading the rest. */
function outcomeOf(received: ReceivedResponse, cutShort: string | null): Omit<OutboundResult, 'durationMs'> {
  const body = textOf(received);
  const failure = received.status === null ? null : failureOfStatus(received.status);
  if (failure !== null || cutShort === null) return { status: received.status, body, error: failure, refused: false };
  return { status: null, body, error: cutShort, refused: false };
}

function withOwnHeaders(headers: Record<string, string>): Record<string, string> {
  const theirs = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
  return { ...Object.fromEntries(theirs), 'accept-encoding': 'identity' };
}
