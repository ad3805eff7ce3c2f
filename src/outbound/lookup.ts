import { promises as dns, lookup as getAddrInfo, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isLocalName } from './target.ts';

const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Of the first query to a DNS server; the limit on the request bounds all of them. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/**
 * The system's lookup, hosts file, search domains and all; names below `localhost` are this machine where it does not
 * know them. It occupies a thread of the few that this process has, so it is for names that are trusted to resolve
 * without delay.
 */
export const systemLookup: LookupFunction = (hostname, options, callback) => {
  getAddrInfo(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null && isLocalName(hostname)) callback(null, LOOPBACK);
    else callback(error, addresses);
  });
};

/**
 * Asks the DNS servers of the system without occupying a thread: a name server that responds slowly delays nobody
 * else's lookups. It knows the names in DNS and no others: no hosts file, no search domains.
 *
 * @param servers in place of the system's, as `address:port`
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
  // One for each lookup, so that a change of the system's servers is noticed.
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const asked = await Promise.allSettled([
    resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
  ]);
  const addresses = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length > 0) return addresses;
  // "No such name" and "no address of this kind" are answers; whatever else there was, is not.
  const failed = asked.some((each) => each.status === 'rejected' && !isAnswer(each.reason));
  throw lookupError(hostname, failed ? 'EAI_AGAIN' : 'ENOTFOUND');
}

function isAnswer(reason: unknown): boolean {
  const code = typeof reason === 'object' && reason !== null && 'code' in reason ? reason.code : undefined;
  return code === dns.NOTFOUND || code === dns.NODATA;
}

/** As the system's lookup fails, so that there is one set of codes. */
export function lookupError(hostname: string, code: 'ENOTFOUND' | 'EAI_AGAIN'): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} could not be resolved`), { code });
}
