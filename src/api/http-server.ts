import type { RequestListener } from 'node:http';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ApiError } from '../domain/errors.ts';
import { errorBody } from './middleware/error-answers.ts';

/** A listening server. */
export interface RunningServer {
  port: number;
  /** Takes no new requests and waits for those under way, at most `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The port is taken, or this user may not open it. */
export class PortError extends Error {}

const MALFORMED = JSON.stringify(errorBody(new ApiError('invalid_request', 'This is not a well-formed HTTP request.')));

/** Node would answer broken requests by itself, with statuses that this API does not have. */
function answerMalformed(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(MALFORMED)}\r\nConnection: close\r\n\r\n${MALFORMED}`,
  );
}

/**
 * @param setting what to change when the port is taken: `PORT`
 * @throws PortError
 */
export async function listen(
  handler: RequestListener,
  { host, port, setting }: { host: string; port: number; setting: string },
): Promise<RunningServer> {
  const server = http.createServer({ keepAliveTimeout: 65_000 }, handler);
  server.on('clientError', answerMalformed);
  server.on('checkExpectation', handler);
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
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
