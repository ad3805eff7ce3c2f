import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { kindOfAddress } from './address-policy.ts';
import { systemLookup } from './lookup.ts';
import { bareHost, isLocalName } from './target.ts';

/** The servers of this service that callers must not reach: its ports, its database, its Temporal. */
export interface OwnServers {
  /** @param host undefined for this machine */
  add(port: number, host?: string): void;
  /** Whether a port belongs to one of them, on any machine. */
  isPort(port: number): boolean;
  /** Whether a host is recognizably one of them without DNS: this machine, or the configured name or address of a server. */
  isNamed(host: string, port: number): boolean;
  /** Whether one of the addresses is one of them: at such a port, any address of this machine, or of the server's machine. */
  has(addresses: readonly string[], port: number): Promise<boolean>;
}

/** @param lookup for their host names; replaces the system's in tests */
export function createOwnServers(lookup: LookupFunction = systemLookup): OwnServers {
  const hosts = new Map<number, Set<string>>();

  const addressesOf = (host: string) =>
    new Promise<string[]>((resolve) => {
      if (isIP(host) !== 0) return resolve([host]);
      lookup(host, { all: true }, (error, found) => {
        // Without an address, it accepts no connections now.
        if (error !== null) resolve([]);
        else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
      });
    });

  return {
    add(port, host) {
      const known = hosts.get(port) ?? new Set();
      if (host !== undefined) known.add(host);
      hosts.set(port, known);
    },
    isPort: (port) => hosts.has(port),
    isNamed(host, port) {
      const theirs = hosts.get(port);
      if (theirs === undefined) return false;
      if (isIP(host) === 0) return isLocalName(host) || theirs.has(host.toLowerCase());
      return isHere(plain(host)) || [...theirs].map(plain).includes(plain(host));
    },
    async has(addresses, port) {
      const theirs = hosts.get(port);
      if (theirs === undefined) return false;
      const given = addresses.map(plain);
      if (given.some(isHere)) return true;
      const found = new Set((await Promise.all([...theirs].map(addressesOf))).flat().map(plain));
      return given.some((address) => found.has(address));
    },
  };
}

/** Whether it is this machine. @param address as returned by `plain` */
const isHere = (address: string) => kindOfAddress(address) === 'loopback' || ownAddresses().has(address);

/** Normalizes an address: IPv4-mapped ones become IPv4. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function ownAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => plain(address)));
}

/**
 * The problem with the address of one of the service's own servers, in the words of `targetProblem`; a server behind another DNS name is
 * refused on connection.
 */
export function ownServerProblem(url: string, own: OwnServers | undefined): string | undefined {
  const target = URL.parse(url);
  if (own === undefined || target === null) return undefined;
  const host = bareHost(target.hostname);
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  return own.isNamed(host, port) ? ownPort(host) : undefined;
}

export const ownPort = (host: string) => `${host} is not allowed at this port, which is one of the service's own`;
