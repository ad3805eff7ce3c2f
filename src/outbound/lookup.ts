import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isLocalName } from './target.ts';

const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The system's lookup (hosts file, search domains and all), and names below `localhost` where it does not know them. */
export const systemLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null && isLocalName(hostname)) callback(null, LOOPBACK);
    else callback(error, addresses);
  });
};
