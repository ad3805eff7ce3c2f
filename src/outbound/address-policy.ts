import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Which addresses besides public ones may be connected to.
 *
 * - `'false'`: none; and only by https.
 * - `'loopback'`: this machine, by http or https. All others are public and by https.
 * - `'true'`: this machine and private networks, everything by http or https.
 */
export type AllowPrivate = 'false' | 'loopback' | 'true';

/** What an address is for. Only `public` is globally routable unicast. */
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

/** Why an address is not connected to. */
export type Refusal = Exclude<AddressKind, 'public'> | 'unencrypted' | 'own';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What clouds serve credentials at outside of the link-local ranges. */
const METADATA = [
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google Cloud
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure, in the midst of public addresses
  '192.0.0.192/32', // Oracle Cloud
].map((range) => ipaddr.parseCIDR(range));

/** All there is of globally routable unicast (RFC 4291, 2.4; IANA has allocated no other block). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The well-known prefix of RFC 6052, which its networks translate to IPv4. The local-use one (RFC 8215) is not public. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The name of a range in ipaddr.js; every other one is reserved: for documentation, benchmarks, tunnels, the future. */
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
 * What the text form of an address is for. IPv6 addresses that stand for an IPv4 address are what that one is where
 * this machine connects to it directly (IPv4-mapped); where a network translates (NAT64) or wraps (6to4), they are public if
 * that one is, and reserved otherwise. What is no address is reserved.
 */
export function kindOfAddress(text: string): AddressKind {
  return isIP(text) === 0 ? 'reserved' : kindOf(ipaddr.parse(withoutDottedEnd(text)));
}

/** ipaddr.js takes `::127.0.0.1` for the IPv4-mapped `::ffff:127.0.0.1`; written as `::7f00:1` it can't. */
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

/** Why an address may not be connected to by `http:` or `https:`; undefined where it may. */
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
