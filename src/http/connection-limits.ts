import type http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup } from './client-address.ts';

/** Maximum number of connections of a server. 0 for no limit. */
export interface ConnectionLimits {
  total: number;
  perAddress: number;
}

/**
 * After the response, the rest of a body can arrive for this long, so that callers who send everything before they read get to
 * read.
 */
const LINGER_MS = 20_000;

/** Closes connections beyond the limits immediately. Among open ones, those without a request give way to new ones. */
export function limitConnections(server: http.Server, { total, perAddress }: ConnectionLimits): void {
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
export function cutUnreadBodies(request: IncomingMessage, response: ServerResponse): void {
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
