import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { kindOfAddress } from './address-policy.ts';
import { systemLookup } from './lookup.ts';

/** What this service listens on and works with, which callers have no business with: its ports, its database, its Temporal. */
export interface OwnServers {
  /** @param host undefined: this machine */
  add(port: number, host?: string): void;
  /** Whether a port is one of theirs, on whichever machine. */
  isPort(port: number): boolean;
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
    async has(addresses, port) {
      const theirs = hosts.get(port);
      if (theirs === undefined) return false;
      const given = addresses.map(plain);
      const here = ownAddresses();
      if (given.some((address) => kindOfAddress(address) === 'loopback' || here.has(address))) return true;
      const found = new Set((await Promise.all([...theirs].map(addressesOf))).flat().map(plain));
      return given.some((address) => found.has(address));
    },
  };
}

/** An IPv4-mapped address is the IPv4 address, and each has one way to be written. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function ownAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => plain(address)));
}
