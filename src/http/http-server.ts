import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import http from 'node:http';
import type { Socket } from 'node:net';
import net, { type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { addressGroup } from './client-address.ts';
import { errorBody } from './middleware/error-responses.ts';
import { SECURITY_HEADER_LINES, setSecurityHeaders } from './security-headers.ts';

/** Maximum number of connections of a server. 0 for no limit. */
interface ConnectionLimits {
  total: number;
  perAddress: number;
}

/**
 * After the response, the rest of a body can arrive for this long, so that callers who send everything before they read get to
 * read.
 */
const LINGER_MS = 20_000;

/** Closes connections beyond the limits immediately. Among open ones, those without a request give way to new ones. */
function limitConnections(server: http.Server, { total, perAddress }: ConnectionLimits): void {
  if (total > 0) limitAll(server, total);
  if (perAddress === 0) return;
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = addressGroup(socket.remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > perAddress) socket.destroy();
  });
}

/** Cuts the connection of a caller that keeps sending a body long after the response, because the body was rejected unread. */
function cutUnreadBodies(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, LINGER_MS);
    timer.unref();
    // On the end of the request or its connection: a kept-alive connection must not accumulate listeners.
    request.once('close', () => clearTimeout(timer));
  });
}

function limitAll(server: http.Server, total: number): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= total) return;
    server.closeIdleConnections();
    // Recently destroyed connections have not emitted `close` yet.
    const left = [...open].filter(({ destroyed }) => !destroyed);
    if (left.length > total) socket.destroy();
  });
}

/** Resources are released when a response closes: together with a pipeline, more listeners than Node.js expects. */
const MAX_LISTENERS = 20;

/** A listening server. */
export interface RunningServer {
  port: number;
  /** Accepts no new requests and waits for those in flight, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The port is in use, or this user may not open it. */
export class PortError extends Error {}

/** For the whole request. Long enough for a large dataset over a slow line; JSON bodies and stalls have their own limits. */
const REQUEST_TIMEOUT_MS = 30 * 60 * 1000;
/** From the connection, or the end of the previous request, to the end of the headers. */
const HEADERS_TIMEOUT_MS = 15_000;
/** How often these two are checked. */
const CHECK_EVERY_MS = 2_000;
/** For a connection without traffic, for example if the caller does not read. The longest wait for a run is 300 s. */
const IDLE_TIMEOUT_MS = 6 * 60 * 1000;

function messageOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The address and headers are too long: send at most 16 KiB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request took too long to arrive.';
  return 'This is not a well-formed HTTP request.';
}

/** Responds on the bare socket, for input that Node.js could not parse as a request. */
function refuse(socket: Duplex, message: string): void {
  const body = JSON.stringify(errorBody(new ApiError('invalid_request', message)));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      `X-Request-Id: req_${newId()}`,
      ...SECURITY_HEADER_LINES,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** On its own, Node.js would respond to malformed requests with statuses and bodies that this API does not have. */
function respondToMalformedRequests(server: http.Server): void {
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => responses.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket);
    const isResponding = response?.headersSent === true && !response.writableFinished;
    // No bytes received: a response would be mistaken for the response to a request still on its way.
    const isUnused = socket instanceof net.Socket && socket.bytesRead === 0;
    if (!socket.writable || isResponding || isUnused) socket.destroy();
    else refuse(socket, messageOf(error.code));
  });
  server.on('connect', (_request, socket) => {
    // The caller may disconnect before reading this.
    socket.on('error', () => {});
    refuse(socket, 'CONNECT is not supported.');
  });
}

/** Options of a server. */
export interface ListenOptions {
  host: string;
  port: number;
  /** The setting to change if the port is in use: `PORT`. */
  setting: string;
  /** Default: none. */
  connections?: ConnectionLimits;
  /** Whether to trust `X-Forwarded-Proto`. Default: no. */
  trustProxy?: boolean;
}

/** @throws PortError */
export async function listen(
  handler: RequestListener,
  { host, port, setting, connections, trustProxy = false }: ListenOptions,
): Promise<RunningServer> {
  const server = http.createServer({
    keepAliveTimeout: 65_000,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    // The application itself requires a Host: Node.js would respond with an empty body.
    requireHostHeader: false,
  });
  server.timeout = IDLE_TIMEOUT_MS;
  if (connections !== undefined) limitConnections(server, connections);
  const handle: RequestListener = (request, response) => {
    response.setMaxListeners(MAX_LISTENERS);
    setSecurityHeaders(request, response, trustProxy);
    cutUnreadBodies(request, response);
    handler(request, response);
  };
  server.on('request', handle);
  server.on('checkExpectation', handle);
  respondToMalformedRequests(server);
  let closing = false;
  server.on('request', (_request, response) =>
    // A kept-alive connection that was busy when the server was closed is idle only now.
    response.once('close', () => closing && setImmediate(() => server.closeIdleConnections())),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be opened (${error.code})`;
      reject(new PortError(`Port ${port} on ${host} ${reason}. Stop that program, or set ${setting} to another port.`));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    async close(graceMs) {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
