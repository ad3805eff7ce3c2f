import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { kindOfAddress } from './address-policy.ts';
import { systemLookup } from './lookup.ts';
import { bareHost, isLocalName } from './target.ts';

/** What this service listens on and works with, which callers have no business with: its ports, its database, its Temporal. */
export interface OwnServers {
  /** @param host undefined: this machine */
  add(port: number, host?: string): void;
  /** Whether a port is one of theirs, on whichever machine. */
  isPort(port: number): boolean;
  /** Whether a host is one of theirs as far as that can be seen without asking DNS: this machine, or the name or address that a server has here. */
  isNamed(host: string, port: number): boolean;
  /** Whether one of the addresses is one of theirs: at such a port this machine by any of its addresses, or the machine of the server. */
  has(addresses: readonly string[], port: number): Promise<boolean>;
}

/** @param lookup of their host names; in place of the system's, for tests */
export function createOwnServers(lookup: LookupFunction = systemLookup): OwnServers {
  const hosts = new Map<number, Set<string>>();

  const addressesOf = (host: string) =>
    new Promise<string[]>((resolve) => {
      if (isIP(host) !== 0) return resolve([host]);
      lookup(host, { all: true }, (error, found) => {
        // What has no address now is connected to by nobody.
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

/** This machine. @param address as `plain` writes it */
const isHere = (address: string) => kindOfAddress(address) === 'loopback' || ownAddresses().has(address);

/** An IPv4-mapped address is the IPv4 address, and each has one way to be written. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function ownAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => plain(address)));
}

/** What is wrong with an address that is a server of the service itself, as `targetProblem` says it; one that hides behind a name in DNS is refused as it is connected to. */
export function ownServerProblem(url: string, own: OwnServers | undefined): string | undefined {
  const target = URL.parse(url);
  if (own === undefined || target === null) return undefined;
  const host = bareHost(target.hostname);
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  return own.isNamed(host, port) ? ownPort(host) : undefined;
}

export const ownPort = (host: string) => `${host} is not allowed at this port, which is one of the service's own`;
