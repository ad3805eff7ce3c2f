import type { Dispatcher } from 'undici';

/** The maximum read from a response; then the connection is closed. */
export const MAX_RESPONSE_BYTES = 64 * 1024;
/** The default amount kept of a response. */
export const KEPT_BYTES = 1024;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The response received so far. */
export interface ReceivedResponse {
  status: number | null;
  /** The first `maxKeptBytes`, or fewer if it is shorter. */
  start: Buffer;
  maxKeptBytes: number;
}

/** Fills `received` as data arrives, so that data before a failure is known. @throws the error that cut it off */
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

/** Why a status is a failure; null if it is a success. */
export function failureOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? `HTTP ${status} (redirects are not followed)` : `HTTP ${status}`;
}

/** The kept part as text that PostgreSQL can store; null if there is none. An incomplete character at the end is dropped. */
export function textOf({ start, maxKeptBytes }: ReceivedResponse): string | null {
  if (start.length === 0) return null;
  const text = new TextDecoder().decode(start, { stream: start.length === maxKeptBytes });
  return text.replaceAll('\u0000', '\uFFFD');
}
