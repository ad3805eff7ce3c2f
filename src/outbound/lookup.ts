import { promises as dns, lookup as getAddrInfo, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isLocalName } from './target.ts';

const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** For the first query to a DNS server; the limit on the request covers all of them. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/**
 * The system's lookup, including hosts file and search domains; names below `localhost` are this machine if unknown to it. It
 * occupies one of this process's few threads, so it is only for names that are trusted to resolve quickly.
 */
export const systemLookup: LookupFunction = (hostname, options, callback) => {
  getAddrInfo(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null && isLocalName(hostname)) callback(null, LOOPBACK);
    else callback(error, addresses);
  });
};

/**
 * Queries the system's DNS servers without occupying a thread, so that a slow name server does not delay other lookups. It
 * knows only names in DNS: no hosts file, no search domains.
 *
 * @param servers instead of the system's, as `address:port`
 */
export function createDnsLookup(servers?: string[]): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname, servers).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

async function resolve(hostname: string, servers: string[] | undefined): Promise<LookupAddress[]> {
  // One per lookup, so that changes of the system's servers take effect.
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const asked = await Promise.allSettled([
    resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
  ]);
  const addresses = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length > 0) return addresses;
  // "No such name" and "no address of this kind" are answers; anything else is a failure.
  const failed = asked.some((each) => each.status === 'rejected' && !isAnswer(each.reason));
  throw lookupError(hostname, failed ? 'EAI_AGAIN' : 'ENOTFOUND');
}

function isAnswer(reason: unknown): boolean {
  const code = typeof reason === 'object' && reason !== null && 'code' in reason ? reason.code : undefined;
  return code === dns.NOTFOUND || code === dns.NODATA;
}

/** The same errors as the system's lookup, so that there is one set of codes. */
export function lookupError(hostname: string, code: 'ENOTFOUND' | 'EAI_AGAIN'): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} could not be resolved`), { code });
}
