import { isIP } from 'node:net';
import { MAX_URL_LENGTH } from '../domain/webhooks/endpoint.ts';
import { type AllowPrivate, kindOfAddress, refusalOf } from './address-policy.ts';

/**
 * Ports of other protocols, whose servers could misinterpret a request: "bad port" in the Fetch standard
 * (https://fetch.spec.whatwg.org/#port-blocking), complete.
 */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** `port` as in a URL: empty for the scheme's default. */
function isBadPort(port: string): boolean {
  return port !== '' && BAD_PORTS.has(Number(port));
}

export type { AllowPrivate } from './address-policy.ts';

/**
 * The problem with a caller's address and its remedy; undefined if none is visible without DNS. The message contains at most
 * the host of the address.
 *
 * A fragment is rejected rather than dropped: it is never sent, so its author expects something that will not happen.
 */
export function targetProblem(
  url: string,
  allow: AllowPrivate,
  maxLength: number = MAX_URL_LENGTH,
): string | undefined {
  if (url.length > maxLength) return tooLong(maxLength);
  const target = URL.parse(url);
  if (target === null) return 'the address is not a valid URL: write it as https://host/path';
  // Percent-encoding has made it longer.
  if (target.href.length > maxLength) return tooLong(maxLength);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return 'the address must begin with https://';
  if (target.username !== '' || target.password !== '')
    return 'the address must not contain a user name or password: remove the part before the @';
  if (target.href.includes('#')) return 'the address must not have a fragment: remove the part from # on';
  if (isBadPort(target.port)) return `the port ${target.port} is not allowed: it belongs to another protocol`;
  return hostProblem(target, allow);
}

function tooLong(maxLength: number): string {
  return `the address is longer than ${maxLength} characters: shorten it`;
}

function hostProblem({ hostname, protocol }: URL, allow: AllowPrivate): string | undefined {
  const host = bareHost(hostname);
  const address = isIP(host) !== 0 ? host : isLocalName(host) ? '127.0.0.1' : undefined;
  if (address === undefined) return protocol === 'https:' || allow === 'true' ? undefined : httpsNeeded(allow);
  const refusal = refusalOf(address, protocol, allow);
  if (refusal === undefined) return undefined;
  if (refusal === 'unencrypted') return httpsNeeded(allow);
  return `the address ${host} is not allowed (${kindOfAddress(address)}): use an address that is reachable from the internet`;
}

function httpsNeeded(allow: AllowPrivate): string {
  return allow === 'loopback'
    ? 'the address must begin with https://: http:// is for localhost only'
    : 'the address must begin with https://';
}

/** A URL's host without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** `localhost` and names below it: this machine, whatever DNS says (RFC 6761, 6.3). */
export function isLocalName(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host);
}
