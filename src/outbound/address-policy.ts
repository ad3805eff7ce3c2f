import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Which addresses other than public ones are allowed.
 *
 * - `'false'`: none; and only with https.
 * - `'loopback'`: this machine, with http or https. All others must be public and use https.
 * - `'true'`: this machine and private networks; http or https for all.
 */
export type AllowPrivate = 'false' | 'loopback' | 'true';

/** The purpose of an address. Only `public` is globally routable unicast. */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'unspecified'
  | 'broadcast'
  | 'reserved';

/** Why an address is refused. */
export type Refusal = Exclude<AddressKind, 'public'> | 'unencrypted' | 'own';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses outside the link-local ranges at which clouds serve credentials. */
const METADATA = [
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google Cloud
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure, inside a public range
  '192.0.0.192/32', // Oracle Cloud
].map((range) => ipaddr.parseCIDR(range));

/** All globally routable unicast addresses (RFC 4291, 2.4; IANA has allocated no other block). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The well-known prefix of RFC 6052, which networks translate to IPv4. The local-use one (RFC 8215) is not public. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Range names of ipaddr.js; every other range is reserved: for documentation, benchmarks, tunnels, the future. */
const KINDS = new Map<string, AddressKind>([
  ['unicast', 'public'],
  ['loopback', 'loopback'],
  ['private', 'private'],
  ['uniqueLocal', 'private'],
  ['carrierGradeNat', 'private'],
  ['linkLocal', 'link-local'],
  ['multicast', 'multicast'],
  ['unspecified', 'unspecified'],
  ['broadcast', 'broadcast'],
]);

/**
 * The purpose of an address in text form. IPv6 addresses for an IPv4 address count as the latter if this machine connects to it
 * directly (IPv4-mapped); if a network translates (NAT64) or wraps (6to4) them, they are public if it is, and reserved
 * otherwise. Invalid addresses are reserved.
 */
export function kindOfAddress(text: string): AddressKind {
  return isIP(text) === 0 ? 'reserved' : kindOf(ipaddr.parse(withoutDottedEnd(text)));
}

/** ipaddr.js parses `::127.0.0.1` as the IPv4-mapped `::ffff:127.0.0.1`; written as `::7f00:1` it does not. */
function withoutDottedEnd(text: string): string {
  return text.replace(
    /(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)/,
    (_all, a: string, b: string, c: string, d: string) => `${groupOf(a, b)}:${groupOf(c, d)}`,
  );
}

function groupOf(high: string, low: string): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

function kindOf(address: Address): AddressKind {
  if (METADATA.some(([network, bits]) => isWithin(address, network, bits))) return 'metadata';
  const range = address.range();
  if (!isIPv6(address)) return KINDS.get(range) ?? 'reserved';
  const bytes = address.toByteArray();
  if (range === 'ipv4Mapped') return kindOf(ipaddr.fromByteArray(bytes.slice(12)));
  if (address.match(NAT64)) return publicOrReserved(bytes.slice(12));
  if (range === '6to4') return publicOrReserved(bytes.slice(2, 6));
  if (range === 'unicast' && !address.match(GLOBAL_UNICAST)) return 'reserved';
  return KINDS.get(range) ?? 'reserved';
}

function publicOrReserved(embedded: number[]): AddressKind {
  return kindOf(ipaddr.fromByteArray(embedded)) === 'public' ? 'public' : 'reserved';
}

function isIPv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function isWithin(address: Address, network: Address, bits: number): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Why an address is refused for `http:` or `https:`; undefined if it is allowed. */
export function refusalOf(address: string, protocol: string, allow: AllowPrivate): Refusal | undefined {
  const kind = kindOfAddress(address);
  if (kind !== 'public' && !isAllowed(kind, allow)) return kind;
  const mayBePlain = allow === 'true' || (allow === 'loopback' && kind === 'loopback');
  return protocol === 'https:' || mayBePlain ? undefined : 'unencrypted';
}

function isAllowed(kind: AddressKind, allow: AllowPrivate): boolean {
  if (kind === 'loopback') return allow !== 'false';
  return kind === 'private' && allow === 'true';
}
