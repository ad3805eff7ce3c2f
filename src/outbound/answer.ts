import type { Dispatcher } from 'undici';

/** An answer is read up to here; then the connection is dropped. */
export const MAX_ANSWER_BYTES = 64 * 1024;
/** How much of an answer is kept. */
export const MAX_KEPT_BYTES = 1024;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What has come of an answer so far. */
export interface Answer {
  status: number | null;
  /** The first `MAX_KEPT_BYTES`, or all of them where they are fewer. */
  start: Buffer;
}

/** Fills `answer` as it comes, so that what came before a failure is known. @throws what ended it before its time */
export async function readAnswer(answer: Answer, response: Promise<Dispatcher.ResponseData>): Promise<void> {
  const { statusCode, body } = await response;
  answer.status = statusCode;
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    if (bytes < MAX_KEPT_BYTES) answer.start = Buffer.concat([answer.start, chunk.subarray(0, MAX_KEPT_BYTES - bytes)]);
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes >= MAX_ANSWER_BYTES) return;
  }
}

/** Why a status is a failure; null where it is a success. */
export function failureOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? `answered ${status} (redirects are not followed)` : `answered ${status}`;
}

/** The kept part as text that PostgreSQL can store; null where there is none. A character cut in two at the end is left out. */
export function textOf({ start }: Answer): string | null {
  if (start.length === 0) return null;
  const text = new TextDecoder().decode(start, { stream: start.length === MAX_KEPT_BYTES });
  return text.replaceAll('\u0000', '\uFFFD');
}
