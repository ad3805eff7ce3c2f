import type { IncomingMessage, ServerResponse } from 'node:http';
import { cameByHttps } from './client-address.ts';

/** Nothing that is sent is a page: nobody may run, frame, guess or keep it. A route that sends something else says so over these. */
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

/** For the page of the documentation: Swagger UI sets styles of elements, and has its icons in `data:` addresses. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For the guides: pages with a form and images, and no script. */
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

/** RFC 6797: for a year. Only where the caller came by https. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** The headers that every response has, as lines of HTTP, for where there is no response object. */
export const SECURITY_HEADER_LINES = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);

/** @param trustProxy whether `X-Forwarded-Proto` is believed */
export function setSecurityHeaders(request: IncomingMessage, response: ServerResponse, trustProxy: boolean): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (cameByHttps(request, trustProxy)) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT);
}

/** Whether a header was set by {@link setSecurityHeaders}: an error keeps these. */
export function isSecurityHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'strict-transport-security' || Object.keys(HEADERS).some((known) => known.toLowerCase() === lower);
}
