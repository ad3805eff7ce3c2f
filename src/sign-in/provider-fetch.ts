import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { CustomFetch } from 'openid-client';
import { Agent, fetch } from 'undici';

/** The maximum response size of a provider: tokens with hundreds of groups and long lists of keys are smaller. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** No readable response from the provider. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}

export interface ProviderFetch {
  /**
   * Follows no redirects, and reads a bounded number of bytes. The caller sets the time limit.
   * @throws UnreachableError also if the server reports that it is temporarily unavailable
   */
  fetch: CustomFetch;
  close: () => Promise<void>;
}

/** @param ca path of a file with certificates (PEM) to trust in addition to the default ones */
export function createProviderFetch(ca: string | undefined): ProviderFetch {
  const agent = new Agent({
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(ca !== undefined && { ca: [...rootCertificates, readFileSync(ca, 'utf8')] }),
    },
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return {
    async fetch(url, { method, headers, body, signal }) {
      try {
        const response = await fetch(url, {
          method,
          headers,
          // These requests only send forms.
          body: body instanceof URLSearchParams ? body.toString() : null,
          redirect: 'manual',
          dispatcher: agent,
          ...(signal && { signal }),
        });
        const bytes = await readBounded(response.body);
        const { status } = response;
        if (status >= 500 || status === 429) throw new UnreachableError(`${url} responded with status ${status}`);
        if (status >= 300 && status < 400)
          throw new UnreachableError(`${url} responded with a redirect, which is not followed`);
        return new Response(WITHOUT_BODY.has(status) ? null : bytes, {
          status,
          headers: [...response.headers],
        });
      } catch (error) {
        if (error instanceof UnreachableError) throw error;
        throw new UnreachableError(`${url} cannot be reached`, { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

/** Counts decompressed bytes: a small response can expand to many. */
async function readBounded(body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > MAX_RESPONSE_BYTES)
      throw new UnreachableError(`The response has more than ${MAX_RESPONSE_BYTES} bytes`);
    parts.push(part);
  }
  return Uint8Array.from(Buffer.concat(parts));
}
