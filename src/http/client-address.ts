import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/**
 * The unit by which callers are counted. IPv6 counts per /64, the smallest network assignment (RFC 6177): a caller with
 * one address of it has all. IPv4 counts per address, also when written as IPv6 (`::ffff:192.0.2.1`).
 * @param address an address in text form; all invalid ones count as one caller
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** The caller's address: behind a trusted proxy, the one that the proxy saw, unless the forwarded value is not an address. */
export function callerAddress({ ip, req }: Context): string | undefined {
  return isIP(ip) === 0 ? req.socket.remoteAddress : ip;
}

/** The unit by which a request is counted. Behind a proxy the address is header text, which can be anything. */
export const callerOf = (ctx: Context): string => addressGroup(callerAddress(ctx));

/**
 * Whether the caller used HTTPS, which only the TLS-terminating proxy knows.
 * @param trustProxy whether to trust `X-Forwarded-Proto`
 */
export function cameByHttps({ headers }: IncomingMessage, trustProxy: boolean): boolean {
  if (!trustProxy) return false;
  return String(headers['x-forwarded-proto']).split(',')[0]?.trim().toLowerCase() === 'https';
}
