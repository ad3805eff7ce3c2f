import { ModelError } from '../model-error.ts';
import { MAX_RESPONSE_BYTES } from '../transport.ts';

/** A line holds one response and little else. */
const MAX_LINE_BYTES = MAX_RESPONSE_BYTES + 64 * 1024;
const LINE_FEED = 10;

/**
 * The lines of a file as it arrives, without line ends and empty lines. A line longer than a response can be is skipped, which bounds the
 * memory.
 *
 * @throws ModelError, retryable, if the last line is cut off: it neither ends with a line feed nor is complete JSON
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const hold = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const take = () => {
    const line = bytes > maxBytes ? '' : Buffer.concat(pieces).toString('utf8').trim();
    pieces = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      hold(chunk.subarray(start, end));
      const line = take();
      if (line !== '') yield line;
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
  const last = take();
  if (last === '') return;
  if (parsedLine(last) === undefined) {
    throw new ModelError('model_unavailable', "The provider's file of results ended in the middle of a line.");
  }
  yield last;
}

/** Undefined if it is not JSON. */
export function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
