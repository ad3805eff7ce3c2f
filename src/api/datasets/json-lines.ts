import { isUtf8 } from 'node:buffer';
import { Example } from '../../domain/evaluations/example.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { countJsonValues, MAX_JSON_VALUES } from '../../domain/text/json-count.ts';
import { digitFault } from '../../domain/text/json-digits.ts';
import { insaneParts } from '../../domain/text/json-faults.ts';
import { detailsOf } from '../../domain/text/schema-details.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import { invalidLine, MAX_EXAMPLE_BYTES, type NumberedExample } from '../../services/datasets/upload-examples.ts';

const NEWLINE = 0x0a;
const BOM = '\uFEFF';

/** @throws ApiError `invalid_request` naming the line and the problem */
export function readExample(line: number, json: JsonValue): Example {
  const [insane] = insaneParts(json);
  if (insane !== undefined) throw invalidLine(line, insane.path, insane.message);
  const result = Example.safeParse(json);
  if (result.success) return result.data;
  const [detail] = detailsOf(result.error);
  throw invalidLine(line, detail?.path ?? '', detail?.message ?? 'is not an example');
}

async function parseLine(line: number, bytes: Buffer): Promise<Example | undefined> {
  if (!isUtf8(bytes)) throw invalidLine(line, '', 'is not valid UTF-8');
  let text = bytes.toString();
  if (line === 1 && text.startsWith(BOM)) text = text.slice(1);
  if (text.trim() === '') return undefined;
  if (countJsonValues(bytes, MAX_JSON_VALUES) > MAX_JSON_VALUES)
    throw invalidLine(line, '', `has more than ${MAX_JSON_VALUES} JSON values`);
  let json: JsonValue;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message.toWellFormed() : 'it cannot be read';
    throw invalidLine(line, '', `is not valid JSON: ${message}`);
  }
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw invalidLine(line, '', 'must be an object such as {"variables": {"name": "Ada"}, "expected": "Hello Ada!"}');
  await afterOthers(bytes.length);
  const lost = digitFault(text);
  if (lost !== undefined) throw invalidLine(line, lost.path, lost.message);
  return readExample(line, json);
}

/** Splits into lines without their newlines; the last line may lack one. */
async function* splitLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<{ line: number; bytes: Buffer }, void, undefined> {
  let line = 1;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const grow = (part: Buffer): void => {
    begunBytes += part.length;
    // One extra byte for the carriage return of CRLF.
    if (begunBytes > MAX_EXAMPLE_BYTES + 1) throw invalidLine(line, '', `is longer than ${MAX_EXAMPLE_BYTES} bytes`);
    begun.push(part);
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      // Skip empty lines here: there can be millions, and yielding each is slow.
      const isEmpty = to === from && begunBytes === 0;
      grow(chunk.subarray(from, to));
      if (!isEmpty) yield { line, bytes: begun.length === 1 ? chunk.subarray(from, to) : Buffer.concat(begun) };
      line += 1;
      from = to + 1;
      begun = [];
      begunBytes = 0;
    }
    if (from < chunk.length) grow(chunk.subarray(from));
  }
  if (begun.length > 0) yield { line, bytes: Buffer.concat(begun) };
}

/**
 * Parses examples from JSON Lines: one object a line, blank lines allowed, LF or CRLF.
 * @param turn waits until that many bytes may be parsed; released when the next example is requested
 * @throws ApiError `invalid_request` naming the invalid line
 */
export async function* parseJsonLines(
  chunks: AsyncIterable<Buffer>,
  turn: (bytes: number) => Promise<() => void>,
): AsyncGenerator<NumberedExample, void, undefined> {
  for await (const { line, bytes } of splitLines(chunks)) {
    const end = await turn(bytes.length);
    try {
      const example = await parseLine(line, bytes);
      await afterOthers(bytes.length);
      if (example !== undefined) yield { line, example };
    } finally {
      end();
    }
  }
}
