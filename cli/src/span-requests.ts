import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { Api } from 'pms-client';
import { CliError, EXIT } from './exit.ts';
import { isObject, type Json, listOf } from './json.ts';
import { parseExactly } from './long-numbers.ts';

/** Limits of a request. The service accepts 8 MiB and 10,000 spans. */
const MAX_SPANS = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;

type SpanRequest = NonNullable<Api.IngestTracesData['body']>;

/** The content of a file, decompressed if it is gzip. */
async function textStream(file: string) {
  const handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0).finally(() => handle.close());
  const bytes = createReadStream(file);
  return buffer[0] === 0x1f && buffer[1] === 0x8b ? bytes.pipe(createGunzip()) : bytes;
}

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The JSON texts of a file: one per line, or a single one. */
async function* jsonTexts(file: string): AsyncGenerator<[text: string, place: string], void, undefined> {
  let isByLine: boolean | undefined;
  let number = 0;
  const all: string[] = [];
  for await (const line of createInterface({ input: await textStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    isByLine ??= isJson(line);
    if (isByLine) yield [line, `${file}: line ${number}`];
    else all.push(line);
  }
  if (all.length > 0) yield [all.join('\n'), file];
}

/** @throws CliError if it is not a request with spans */
function resourcesIn(text: string, place: string): Json[] {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    throw new CliError(
      EXIT.usage,
      `${place}: is not valid JSON: ${String(error instanceof Error ? error.message : error)}`,
    );
  }
  const resources = isObject(value) ? value['resourceSpans'] : undefined;
  if (!Array.isArray(resources))
    throw new CliError(EXIT.usage, `${place}: has no resourceSpans, as OTLP/JSON has them.`);
  return resources.filter(isObject);
}

/**
 * The spans of an OTLP/JSON file, in requests that the service accepts.
 * @throws CliError if the file is not OTLP/JSON
 */
export async function* spanRequests(
  file: string,
): AsyncGenerator<{ body: SpanRequest; spans: number }, void, undefined> {
  let request: { scopeSpans: Json[] }[] = [];
  let spans = 0;
  let bytes = 0;
  const takeRequest = () => {
    const taken = { body: { resourceSpans: request as unknown as Json[] }, spans };
    request = [];
    spans = 0;
    bytes = 0;
    return taken;
  };
  for await (const [text, place] of jsonTexts(file))
    for (const resource of resourcesIn(text, place))
      for (const scope of listOf(resource['scopeSpans']).filter(isObject)) {
        let into: unknown[] | undefined;
        for (const span of listOf(scope['spans'])) {
          if (into === undefined) {
            into = [];
            request.push({ ...resource, scopeSpans: [{ ...scope, spans: into }] });
          }
          into.push(span);
          spans += 1;
          bytes += Buffer.byteLength(JSON.stringify(span));
          if (spans < MAX_SPANS && bytes < MAX_BYTES) continue;
          yield takeRequest();
          into = undefined;
        }
      }
  if (spans > 0) yield takeRequest();
}
