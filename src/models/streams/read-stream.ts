import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { isObject } from '../../domain/text/json.ts';
import { ModelError } from '../model-error.ts';
import { providerError } from '../provider-errors.ts';
import type { Provider } from '../providers/provider.ts';
import type { RequestBody } from '../requests/json-body.ts';
import { MAX_RESPONSE_BYTES, type MakeRoom, type TransportResponse, tooLong } from '../transport.ts';
import type { Assembler } from './assembler.ts';

/** Each word comes in an event that is many times as long. */
const EVENT_FACTOR = 8;
const MAX_STREAM_BYTES = EVENT_FACTOR * MAX_RESPONSE_BYTES;

/** What ends OpenAI's streams. */
const DONE = '[DONE]';

const HasError = z.object({ error: z.union([z.string().min(1), z.looseObject({})]) });

/** Whether a response is a stream: some servers answer in one piece, whatever they are asked. */
export function isStream({ status, headers }: TransportResponse): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/**
 * Reads a streamed response.
 *
 * @param onText called with each piece of the response's text
 * @param makeRoom waits until there is room for so many bytes of the response
 * @param redact removes our keys and hosts from the provider's messages
 * @returns the body that the provider would have sent without streaming, so that all that reads responses has one form to know
 * @throws ModelError for an error in the stream, and for one that ends before the response is complete or is too long
 */
export async function readStream(
  provider: Provider,
  response: TransportResponse,
  onText: (text: string) => void,
  makeRoom: MakeRoom,
  redact: (text: string) => string,
): Promise<string> {
  const assembler = provider.createAssembler();
  let chars = 0;
  let isDone = false;

  function onEvent({ data }: { data: string }): void {
    if (data === DONE) {
      isDone = true;
      return;
    }
    const event = parsed(data);
    if (HasError.safeParse(event).success) {
      throw providerError({ status: response.status, headers: response.headers, text: data }, redact);
    }
    const text = added(assembler, event);
    chars += text.length;
    if (chars > MAX_RESPONSE_BYTES) throw tooLong(MAX_RESPONSE_BYTES);
    if (text !== '') onText(text);
  }

  const parser = createParser({ onEvent });
  let streamed = 0;
  for await (const chunk of response.chunks(MAX_STREAM_BYTES)) {
    parser.feed(chunk);
    streamed += chunk.length;
    await makeRoom(Math.max(chars, streamed / EVENT_FACTOR));
  }
  if (!isDone && !assembler.isComplete()) {
    throw new ModelError('model_unavailable', "The provider's stream ended before the response was complete.");
  }
  const body = JSON.stringify(assembler.body());
  if (Buffer.byteLength(body) > MAX_RESPONSE_BYTES) throw tooLong(MAX_RESPONSE_BYTES);
  return body;
}

function parsed(data: string): RequestBody {
  try {
    const event: unknown = JSON.parse(data);
    if (isObject(event)) return event;
  } catch {}
  throw unparsable();
}

function added(assembler: Assembler, event: RequestBody): string {
  try {
    return assembler.add(event);
  } catch (error) {
    throw error instanceof z.ZodError ? unparsable() : error;
  }
}

function unparsable(): ModelError {
  return new ModelError('model_unavailable', "The provider's response could not be parsed.");
}
