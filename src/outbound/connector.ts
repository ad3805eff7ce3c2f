import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AllowPrivate, type Refusal, refusalOf } from './address-policy.ts';
import { createDnsLookup, lookupError, systemLookup } from './lookup.ts';

/** The host is, or has, an address that is not connected to. */
export class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED';
  readonly refusal: Refusal;

  /** The message names the host that was asked for, and never what it resolves to. */
  constructor(host: string, refusal: Refusal) {
    super(messageOf(host, refusal));
    this.name = 'RefusedAddressError';
    this.refusal = refusal;
  }
}

function messageOf(host: string, refusal: Refusal): string {
  if (refusal === 'unencrypted') return `${host} is not on this machine, so its address must begin with https://`;
  return isIP(host) === 0
    ? `${host} resolves to an address that is not allowed (${refusal})`
    : `the address ${host} is not allowed (${refusal})`;
}

export interface ConnectorOptions {
  allowPrivate: AllowPrivate;
  /** From the lookup to the end of the TLS handshake. */
  timeoutMs: number;
  /**
   * Default: the DNS, where only public addresses are allowed, and so none of the names that only this machine or its
   * network knows; the system's lookup otherwise.
   */
  lookup?: LookupFunction;
  /** Certificates to trust in place of the usual ones, as PEM. */
  ca?: string;
}

/**
 * Connects by HTTP/1.1, and only to addresses that the policy allows. A name's addresses are checked when it is
 * connected to, and those very addresses are used: what the name resolves to a moment later doesn't matter. One refused
 * address refuses all of a name's.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { allowPrivate } = options;
  const http = connectorOf('http:', options);
  const https = connectorOf('https:', options);
  return (target, callback) => {
    // Nothing is looked up for a literal address.
    const refusal = isIP(target.hostname) === 0 ? undefined : refusalOf(target.hostname, target.protocol, allowPrivate);
    if (refusal !== undefined) {
      queueMicrotask(() => callback(new RefusedAddressError(target.hostname, refusal), null));
      return;
    }
    const connect = target.protocol === 'https:' ? https : http;
    connect(target, callback);
  };
}

function connectorOf(protocol: string, { allowPrivate, timeoutMs, lookup, ca }: ConnectorOptions) {
  return buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: guardedLookup(lookup ?? defaultLookup(allowPrivate), protocol, allowPrivate),
    ...(ca === undefined ? {} : { ca }),
  });
}

function defaultLookup(allowPrivate: AllowPrivate): LookupFunction {
  return allowPrivate === 'false' ? createDnsLookup() : systemLookup;
}

function guardedLookup(lookup: LookupFunction, protocol: string, allow: AllowPrivate): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return callback(error, '');
      const addresses = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      for (const { address } of addresses) {
        const refusal = refusalOf(address, protocol, allow);
        if (refusal !== undefined) return callback(new RefusedAddressError(hostname, refusal), '');
      }
      const [first] = addresses;
      if (first === undefined) return callback(lookupError(hostname, 'ENOTFOUND'), '');
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
