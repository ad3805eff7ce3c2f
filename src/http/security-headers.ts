import type { IncomingMessage, ServerResponse } from 'node:http';
import { cameByHttps } from './client-address.ts';

/** Responses are not pages: they must not be run, framed, sniffed or stored. Routes that send something else override these. */
const HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  // Responses depend on the key and may hold secrets.
  'Cache-Control': 'no-store',
};

/** For the documentation page: Swagger UI sets inline styles and has icons in `data:` addresses. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For the guides: pages with a form and images, without scripts. */
export const GUIDES_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * For the page of the web console.
 * @param nonce of the styles that its editor adds
 */
export function consolePolicy(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/** RFC 6797, for one year. Only if the caller used HTTPS. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** The headers of every response as HTTP lines, for use without a response object. */
export const SECURITY_HEADER_LINES = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);

/** @param trustProxy whether to trust `X-Forwarded-Proto` */
export function setSecurityHeaders(request: IncomingMessage, response: ServerResponse, trustProxy: boolean): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (cameByHttps(request, trustProxy)) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT);
}

/** Whether {@link setSecurityHeaders} set a header: errors keep these. */
export function isSecurityHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'strict-transport-security' || Object.keys(HEADERS).some((known) => known.toLowerCase() === lower);
}
