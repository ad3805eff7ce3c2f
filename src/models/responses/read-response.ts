import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { isObject, type JsonValue } from '../../domain/text/json.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { ModelError } from '../model-error.ts';
import { isErrorBody, pageError, providerError } from '../provider-errors.ts';
import type { Provider } from '../providers/provider.ts';
import { MAX_RESPONSE_BYTES, type MakeRoom, type TransportResponse, tooLong } from '../transport.ts';
import { SkippedKinds, type Understood } from './understood.ts';

/** Each word arrives in an event many times its length. */
const EVENT_FACTOR = 8;
const MAX_STREAM_BYTES = EVENT_FACTOR * MAX_RESPONSE_BYTES;
/** The most that can be shown of a response that was not understood. */
const MAX_KEPT_CHARS = 64 * 1024;

/** The end marker of OpenAI's streams. */
const DONE = '[DONE]';

const HasError = z.object({ error: z.union([z.string().min(1), z.looseObject({})]) });

/** A completely received response. */
export interface Received {
  understood: Understood;
  /** The parsed body; a stream is assembled. */
  body: unknown;
  skipped: SkippedKinds;
  /** The first 64 Ki characters as received. */
  text: string;
}

/** The dependencies for reading a response. */
interface Reading {
  provider: Provider;
  /** Called with each piece of the text of a streamed response. */
  onText: (text: string) => void;
  /** Waits until there is memory for that many bytes of the response. */
  makeRoom: MakeRoom;
  /** Removes our keys and hosts from the provider's messages. */
  redact: (text: string) => string;
}

/**
 * Reads a response: a stream or a single body, detected from its start, because servers may send either under any content type.
 *
 * @throws ModelError for an error or an HTML page instead of a response, for a stream that ends before the response is complete, and for
 * an empty or too long response
 */
export async function readResponse(reading: Reading, response: TransportResponse): Promise<Received> {
  const { status, headers } = response;
  const { makeRoom, redact } = reading;
  if (status < 200 || status > 299)
    throw providerError({ status, headers, text: await response.text(makeRoom) }, redact);
  const events = createEventReader(reading, response);
  const parser = createParser({ onEvent: ({ data }) => events.add(data) });
  const pieces: string[] = [];
  let text = '';
  let received = 0;
  let isStream: boolean | undefined;
  for await (const chunk of response.chunks(MAX_STREAM_BYTES)) {
    received += chunk.length;
    if (text.length < MAX_KEPT_CHARS) text += chunk.slice(0, MAX_KEPT_CHARS - text.length);
    isStream ??= beginsStream(text, headers);
    if (isStream === true) parser.feed(pieces.splice(0).join('') + chunk);
    else pieces.push(chunk);
    if (isStream !== true && received > MAX_RESPONSE_BYTES) throw tooLong(MAX_RESPONSE_BYTES);
    await makeRoom(isStream === true ? Math.max(events.chars, received / EVENT_FACTOR) : received);
  }
  if (isStream === true) {
    // The last event may lack its terminator.
    parser.feed('\n\n');
    return { ...events.end(), text };
  }
  const whole = pieces.join('');
  if (whole.trim() === '') throw emptyResponse();
  if (isErrorBody(whole)) throw providerError({ status, headers, text: whole }, redact);
  const page = pageError(headers, whole);
  if (page !== undefined) throw page;
  const body = parsed(whole);
  const list = eventsIn(whole, body);
  if (list === undefined) return { ...understand(reading.provider, body), text };
  for (const event of list) events.add(event);
  return { ...events.end(), text };
}

/** Parses a stored response. */
export function receivedText(provider: Provider, text: string): Received {
  return { ...understand(provider, parsed(text)), text: text.slice(0, MAX_KEPT_CHARS) };
}

function understand(
  provider: Provider,
  body: unknown,
  skipped = new SkippedKinds(),
): Pick<Received, 'understood' | 'body' | 'skipped'> {
  if (isObject(body)) return { understood: provider.understand(body, skipped), body, skipped };
  const fault = body === undefined ? 'it is not JSON' : 'it is not a JSON object';
  return { understood: { ...provider.understand({}, skipped), fault }, body, skipped };
}

export function emptyResponse(spent?: ModelError['spent']): ModelError {
  return new ModelError('model_unavailable', "The provider's response is empty.", { ...(spent && { spent }) });
}

/** Assembles a response from the data of its events. */
function createEventReader({ provider, onText, redact }: Reading, { status, headers }: TransportResponse) {
  const skipped = new SkippedKinds();
  const assembler = provider.createAssembler(skipped);
  let chars = 0;
  let count = 0;
  let isDone = false;
  return {
    /** The length of the response's text. */
    get chars() {
      return chars;
    },
    add(data: string): void {
      const text = data.trim();
      if (text === DONE) isDone = true;
      if (text === '' || text === DONE) return;
      count += 1;
      const event = parsed(text);
      if (!isObject(event)) {
        skipped.add('event', 'that is not a JSON object');
        return;
      }
      if (HasError.safeParse(event).success) throw providerError({ status, headers, text }, redact);
      const added = assembler.add(event);
      chars += added.length;
      if (chars > MAX_RESPONSE_BYTES) throw tooLong(MAX_RESPONSE_BYTES);
      if (added !== '') onText(added);
    },
    end() {
      if (count === 0) throw emptyResponse();
      const received = understand(provider, assembler.body(), skipped);
      // A faulty response is complete, in a format that marks its end differently.
      if (!isDone && !assembler.isComplete() && received.understood.fault === undefined)
        throw new ModelError('model_unavailable', "The provider's stream ended before the response was complete.");
      return received;
    },
  };
}

/** Undefined if not known yet. */
function beginsStream(text: string, headers: Headers): boolean | undefined {
  const begun = text.trimStart();
  if (/^(data|event|id|retry)?:/.test(begun)) return true;
  if (begun.length < 'event:'.length && !/^[{[<]/.test(begun)) return undefined;
  return !/^[{[<]/.test(begun) && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/** The events of a stream sent as a JSON list or JSON Lines; undefined if it is neither. */
function eventsIn(text: string, body: unknown): string[] | undefined {
  if (Array.isArray(body)) return body.length > 0 ? body.map((event) => JSON.stringify(event)) : undefined;
  if (body !== undefined) return undefined;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every((line) => isObject(parsed(line))) ? lines : undefined;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseKeepingDigits(text);
  } catch {
    return undefined;
  }
}
