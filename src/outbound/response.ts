import type { Dispatcher } from 'undici';

/** A response is read up to here; then the connection is closed. */
export const MAX_RESPONSE_BYTES = 64 * 1024;
/** How much of a response is kept by default. */
export const KEPT_BYTES = 1024;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What has been received of a response so far. */
export interface ReceivedResponse {
  status: number | null;
  /** The first `maxKeptBytes`, or all of them where they are fewer. */
  start: Buffer;
  maxKeptBytes: number;
}

/** Fills `received` as data arrives, so that what came before a failure is known. @throws the error that cut it short */
export async function readResponse(
  received: ReceivedResponse,
  response: Promise<Dispatcher.ResponseData>,
): Promise<void> {
  const { statusCode, body } = await response;
  received.status = statusCode;
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    const room = received.maxKeptBytes - bytes;
    if (room > 0) received.start = Buffer.concat([received.start, chunk.subarray(0, room)]);
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes >= MAX_RESPONSE_BYTES) return;
  }
}

/** Why a status is a failure; null where it is a success. */
export function failureOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? `HTTP ${status} (redirects are not followed)` : `HTTP ${status}`;
}

/** The kept part as text that PostgreSQL can store; null where there is none. A character cut in two at the end is left out. */
export function textOf({ start, maxKeptBytes }: ReceivedResponse): string | null {
  if (start.length === 0) return null;
  const text = new TextDecoder().decode(start, { stream: start.length === maxKeptBytes });
  return text.replaceAll('\u0000', '\uFFFD');
}
