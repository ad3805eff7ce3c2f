import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/**
 * Who is counted for an address. IPv6 counts by /64, the least that a network is given (RFC 6177): whoever has one address of it
 * has all. IPv4 counts by address, also where it is written as IPv6 (`::ffff:192.0.2.1`).
 * @param address the text of an address; what is none counts as one caller
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** The caller's address: behind a trusted proxy, the one that the proxy saw, unless what it passes on is no address. */
export function callerAddress({ ip, req }: Context): string | undefined {
  return isIP(ip) === 0 ? req.socket.remoteAddress : ip;
}

/** Who is counted for a request. Behind a proxy the address is a header's text, which may be anything. */
export const callerOf = (ctx: Context): string => addressGroup(callerAddress(ctx));

/**
 * Whether the caller came by https, which is known from the proxy that ends TLS alone.
 * @param trustProxy whether `X-Forwarded-Proto` is believed
 */
export function cameByHttps({ headers }: IncomingMessage, trustProxy: boolean): boolean {
  if (!trustProxy) return false;
  return String(headers['x-forwarded-proto']).split(',')[0]?.trim().toLowerCase() === 'https';
}
