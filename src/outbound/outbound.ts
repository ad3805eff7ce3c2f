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
/** Responses with a 1xx status before the final one. */
const MAX_INTERIM_RESPONSES = 20;

/**
 * A connection on which nothing happened for this long is closed. A receiver that closes it first, just as a request is
 * in flight, fails that request: it can't be known whether it was acted upon, so it is retried only as an
 * attempt of the delivery. Hardly any server gives up an idle connection earlier than after 2 s.
 */
const IDLE_MS = 1_000;
/** The most that a receiver's `Keep-Alive: timeout=` can make of it, with a second less than it says. */
const MAX_IDLE_MS = 4_000;
const IDLE_MARGIN_MS = 1_000;

/** Headers that only this module sets: where the request goes, and that the response comes unencoded. */
const OWN_HEADERS = new Set(['host', 'accept-encoding']);

/** The span in which a request was caused, which may be long ago. */
export interface OutboundCause {
  /** As W3C Trace Context writes it. */
  traceparent: string;
  /** Whether it is made once more, for a reason of its own: it then begins a trace, with a link to that span. */
  isAnew: boolean;
}

export interface OutboundRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** For all of the request. Default: the longest, the client's own. */
  timeoutMs?: number;
  /** How much of the response body is kept; at most the 64 KiB that are read. Default: 1 KiB. */
  maxKeptBytes?: number;
  signal?: AbortSignal;
  /** What it is sent for. Only tells operators; receivers are sent nothing of it. */
  cause?: OutboundCause;
}

export interface OutboundResult {
  /** Null where no complete response came; a status that is itself the failure is kept even then. */
  status: number | null;
  /** The start of the response body as text: UTF-8 with replacement characters and without U+0000. Null where there was none. */
  body: string | null;
  /** A plain reason, without path, query or header. Null exactly when the status is 2xx and the response was complete in time. */
  error: string | null;
  /** Nothing was sent, since the policy does not allow the address. */
  refused: boolean;
  durationMs: number;
}

export interface Outbound {
  /**
   * Posts once: no redirect is followed, nothing is retried. At most 64 KiB of the response are read, and never decompressed; a
   * longer one counts as complete there.
   *
   * Never throws but when `signal` is aborted: then its reason.
   */
  post(request: OutboundRequest): Promise<OutboundResult>;
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  allowPrivate: AllowPrivate;
  /** For all of a request, from the lookup of its host to the last byte of the response; a request may have less. */
  timeoutMs: number;
  /** What nothing is sent to, whatever the policy allows; default nothing. */
  own?: OwnServers | undefined;
  /** In place of the system's, for tests. */
  lookup?: LookupFunction;
  /** Certificates to trust in place of the usual ones, as PEM, for tests. */
  ca?: string;
}

export function createOutbound({ allowPrivate, timeoutMs, ...connection }: OutboundOptions): Outbound {
  const agent = new Agent({
    connect: createGuardedConnector({ allowPrivate, timeoutMs, ...connection }),
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The limit on the whole request bounds them.
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

/** A status that is a failure says more than an error while the rest was read. */
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
