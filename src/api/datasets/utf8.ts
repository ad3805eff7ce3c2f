import { isUtf8 } from 'node:buffer';
import { invalidLine } from '../../services/datasets/upload-examples.ts';

const NEWLINE = 0x0a;

/** The number of trailing bytes that form an incomplete character. */
function unfinishedTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** Counts the newlines before the first invalid line. */
function newlinesBeforeFault(bytes: Buffer): number {
  let count = 0;
  let from = 0;
  for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
    if (!isUtf8(bytes.subarray(from, to))) break;
    count += 1;
    from = to + 1;
  }
  return count;
}

/**
 * Passes text through in whole characters.
 * @throws ApiError `invalid_request` naming the line that is not UTF-8
 */
export async function* requireUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let line = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinishedTail(bytes));
    if (!isUtf8(whole)) throw invalidLine(line + newlinesBeforeFault(whole), '', 'is not valid UTF-8');
    line += countNewlines(whole);
    rest = Buffer.from(bytes.subarray(whole.length));
    yield whole;
  }
  if (rest.length > 0) throw invalidLine(line, '', 'is not valid UTF-8');
}
