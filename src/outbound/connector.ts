import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AllowPrivate, type Refusal, refusalOf } from './address-policy.ts';
import { createDnsLookup, lookupError, systemLookup } from './lookup.ts';
import { type OwnServers, ownPort } from './own-servers.ts';

/** The host is, or resolves to, a refused address. */
export class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED';
  readonly refusal: Refusal;

  /** The message names the requested host, but never what it resolves to. */
  constructor(host: string, refusal: Refusal) {
    super(messageOf(host, refusal));
    this.name = 'RefusedAddressError';
    this.refusal = refusal;
  }
}

function messageOf(host: string, refusal: Refusal): string {
  if (refusal === 'own') return ownPort(host);
  if (refusal === 'unencrypted') return `${host} is not on this machine, so its address must begin with https://`;
  return isIP(host) === 0
    ? `${host} resolves to an address that is not allowed (${refusal})`
    : `the address ${host} is not allowed (${refusal})`;
}

export interface ConnectorOptions {
  allowPrivate: AllowPrivate;
  /** From DNS lookup to the end of the TLS handshake. */
  timeoutMs: number;
  /**
   * Default: DNS if only public addresses are allowed, which excludes names known only to this machine or its network;
   * otherwise the system's lookup.
   */
  lookup?: LookupFunction;
  /** Trusted certificates (PEM) instead of the default ones. */
  ca?: string;
  /** Servers that are always refused, whatever the policy allows; default none. */
  own?: OwnServers | undefined;
}

/**
 * Connects over HTTP/1.1, and only to addresses that the policy allows. A name's addresses are checked when connecting, and
 * exactly these are used, so it does not matter what the name resolves to later. One refused address refuses the whole name.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { allowPrivate, own } = options;
  const connectors = new Map<string, buildConnector.connector>();
  /** One for each protocol; ports of the service's own have another. */
  const connectorOf = (protocol: string, ownPort: number | undefined) => {
    const key = `${protocol}${ownPort ?? ''}`;
    const known = connectors.get(key);
    if (known !== undefined) return known;
    const made = newConnector(options, (addresses) => refusalOfAll(addresses, protocol, options, ownPort));
    connectors.set(key, made);
    return made;
  };
  return (target, callback) => {
    const { hostname, protocol } = target;
    const port = Number(target.port || (protocol === 'https:' ? 443 : 80));
    const ownPort = own?.isPort(port) ? port : undefined;
    const connect = connectorOf(protocol, ownPort);
    // A literal address needs no lookup.
    if (isIP(hostname) === 0) return connect(target, callback);
    const refusal = refusalOf(hostname, protocol, allowPrivate);
    if (refusal === undefined && ownPort === undefined) return connect(target, callback);
    void refusalOfAll([hostname], protocol, options, ownPort).then(
      (found) => {
        if (found === undefined) connect(target, callback);
        else callback(new RefusedAddressError(hostname, found), null);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** @param ownPort set if one of the service's own servers has this port, on any machine */
async function refusalOfAll(
  addresses: readonly string[],
  protocol: string,
  { allowPrivate, own }: ConnectorOptions,
  ownPort: number | undefined,
): Promise<Refusal | undefined> {
  for (const address of addresses) {
    const refusal = refusalOf(address, protocol, allowPrivate);
    if (refusal !== undefined) return refusal;
  }
  return ownPort !== undefined && (await own?.has(addresses, ownPort)) ? 'own' : undefined;
}

type Refuse = (addresses: readonly string[]) => Promise<Refusal | undefined>;

function newConnector({ allowPrivate, timeoutMs, lookup, ca }: ConnectorOptions, refuse: Refuse) {
  return buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: guardedLookup(lookup ?? defaultLookup(allowPrivate), refuse),
    ...(ca === undefined ? {} : { ca }),
  });
}

function defaultLookup(allowPrivate: AllowPrivate): LookupFunction {
  return allowPrivate === 'false' ? createDnsLookup() : systemLookup;
}

function guardedLookup(lookup: LookupFunction, refuse: Refuse): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return callback(error, '');
      const addresses = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      void refuse(addresses.map(({ address }) => address)).then(
        (refusal) => {
          if (refusal !== undefined) return callback(new RefusedAddressError(hostname, refusal), '');
          const [first] = addresses;
          if (first === undefined) return callback(lookupError(hostname, 'ENOTFOUND'), '');
          if (options.all === true) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (failure: Error) => callback(failure, ''),
      );
    });
  };
}
