import { errors } from 'undici';
import { RefusedAddressError } from './connector.ts';

/** A receiver keeps sending interim responses and never the final one. */
export class EndlessResponseError extends Error {
  readonly code = 'ENDLESS_RESPONSE';
  constructor() {
    super('The response does not end.');
    this.name = 'EndlessResponseError';
  }
}

const CLOSED = 'the connection was closed before the response was complete';
const UNTRUSTED = 'certificate of an unknown authority';

/** The connection timeout equals the timeout of the whole request; which one fires first is random. */
const TIMEOUTS = new Set(['OUT_OF_TIME', 'UND_ERR_CONNECT_TIMEOUT']);

/** By error codes of Node.js, OpenSSL and undici. */
const REASONS = new Map([
  ['ENOTFOUND', 'host name not found'],
  ['EAI_AGAIN', 'host name could not be looked up'],
  ['EAI_FAIL', 'host name could not be looked up'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['ECONNABORTED', 'connection reset'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'host unreachable'],
  ['EADDRNOTAVAIL', 'host unreachable'],
  ['EHOSTDOWN', 'host unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
  ['UND_ERR_SOCKET', CLOSED],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', CLOSED],
  ['ENDLESS_RESPONSE', 'too many interim (1xx) responses'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the response headers are too large'],
  ['CERT_HAS_EXPIRED', 'certificate expired'],
  ['CERT_NOT_YET_VALID', 'certificate is not valid yet'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate is self-signed'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate is not valid for this host'],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['CERT_UNTRUSTED', UNTRUSTED],
  ['CERT_REVOKED', 'certificate was revoked'],
  ['EPROTO', 'TLS handshake failed'],
  ['UND_ERR_CLOSED', 'this service is stopping'],
  ['UND_ERR_DESTROYED', 'this service is stopping'],
]);

/** A plain reason for a failed request with a time limit of `timeoutMs`, without header, path or query. */
export function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof RefusedAddressError) return error.message;
  // It has no code. If nothing was left to read, the response was cut off.
  if (error instanceof errors.HTTPParserError)
    return 'data' in error && error.data === '' ? CLOSED : 'not an HTTP response';
  const code = codeOf(error);
  if (TIMEOUTS.has(code)) return `timed out after ${timeoutMs / 1000} s`;
  const known = REASONS.get(code);
  if (known !== undefined) return known;
  if (code.startsWith('ERR_SSL_')) return 'TLS handshake failed';
  return code === '' ? 'the request failed' : `the request failed (${code})`;
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : '';
}
