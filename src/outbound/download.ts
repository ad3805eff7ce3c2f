import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { createGuardedConnector, RefusedAddressError } from './connector.ts';
import { withDeadline } from './deadline.ts';
import type { OwnServers } from './own-servers.ts';
import { reasonOf } from './reasons.ts';
import { failureOfStatus } from './response.ts';
import { type AllowPrivate, targetProblem } from './target.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Large, because signed addresses are long. */
const MAX_URL_LENGTH = 8192;
const CONNECTIONS_PER_ORIGIN = 16;

/** A failed download. The message contains no path, query or header. */
export class DownloadError extends Error {
  /** Whether the same address may work later. */
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean) {
    super(message);
    this.name = 'DownloadError';
    this.retryable = retryable;
  }
}

export interface Download {
  /** The type that the server declares, in lower case and without parameters; empty if none. */
  mediaType: string;
  bytes: Buffer;
}

export interface Downloader {
  /**
   * Downloads a file once, from an address that the policy allows: no redirects, retries or decompression.
   *
   * @param onBytes called and awaited with the length of each chunk; if it throws, the download ends
   * @throws DownloadError; the reason of `signal` once it has aborted
   */
  get(
    url: string,
    options: { maxBytes: number; signal: AbortSignal; onBytes?: (bytes: number) => Promise<void> },
  ): Promise<Download>;
  close(): Promise<void>;
}

export interface DownloaderOptions {
  allowPrivate: AllowPrivate;
  /** For the whole file, from DNS lookup to the last byte. */
  timeoutMs: number;
  /** Servers that never get a request, whatever the policy allows; default none. */
  own?: OwnServers | undefined;
  /** Replaces the system's lookup in tests. */
  lookup?: LookupFunction;
  /** Trusted certificates (PEM) instead of the default ones, for tests. */
  ca?: string;
}

export function createDownloader({ allowPrivate, timeoutMs, ...connection }: DownloaderOptions): Downloader {
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: createGuardedConnector({ allowPrivate, timeoutMs, ...connection }),
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The limit on the whole download covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async get(url, { maxBytes, signal, onBytes }) {
      refuseInTransaction('A file');
      signal.throwIfAborted();
      const problem = targetProblem(url, allowPrivate, MAX_URL_LENGTH);
      if (problem !== undefined) throw new DownloadError(problem, false);
      try {
        return await withDeadline(timeoutMs, signal, async (giveUp) => {
          const response = await agent.request({
            ...partsOf(url),
            method: 'GET',
            headers: { accept: '*/*', 'accept-encoding': 'identity' },
            signal: giveUp.signal,
          });
          const failure = failureOfStatus(response.statusCode);
          if (failure !== null) {
            // Destroying it unread emits an error.
            response.body.on('error', () => {}).destroy();
            throw new DownloadError(failure, response.statusCode >= 500 || response.statusCode === 429);
          }
          const chunks: Buffer[] = [];
          let bytes = 0;
          for await (const chunk of response.body) {
            if (!Buffer.isBuffer(chunk)) continue;
            bytes += chunk.length;
            if (bytes > maxBytes) throw new DownloadError(`it is larger than ${maxBytes} bytes`, false);
            await onBytes?.(chunk.length);
            chunks.push(chunk);
          }
          return { mediaType: mediaTypeOf(response.headers['content-type']), bytes: Buffer.concat(chunks) };
        });
      } catch (error) {
        if (error instanceof DownloadError || (signal.aborted && error === signal.reason)) throw error;
        throw new DownloadError(reasonOf(error, timeoutMs), !(error instanceof RefusedAddressError));
      }
    },
    close: () => agent.close(),
  };
}

function partsOf(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

function mediaTypeOf(header: string | string[] | undefined): string {
  const first = Array.isArray(header) ? header[0] : header;
  return first?.split(';')[0]?.trim().toLowerCase() ?? '';
}
