import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import type { FilePart } from './sdk-prompt.ts';

/** Files that SDKs decode: texts, and audio whose type is detected from its content. */
const DECODED = /^(text\/|audio\/\*)/;
/** Longer texts and files bypass the SDK, which copies, escapes and parses its input. */
const LONG_CHARS = 64 * 1024;
/** The ends that SDKs inspect stay: a file's signature, spaces around a text. A multiple of four for base64. */
const KEPT_CHARS = 1_024;
/** The amount written at a time: less than a millisecond of work. */
const PIECE_CHARS = 256 * 1024;

/** A body that is sent in pieces. */
export interface WrittenBody {
  bytes: number;
  stream: Readable;
}

/** The long texts and files of a call. In its messages, a short mark replaces the middle of each until the request is written. */
export class LongTexts {
  /** In base64, so that a file stays valid; no text contains it by chance. */
  readonly #mark = randomBytes(24).toString('base64');
  readonly #middles: { text: string; isBase64: boolean }[] = [];

  /** Replaces long content by marks. */
  shorten(messages: readonly ChatMessage[]): ChatMessage[] {
    return messages.map((message): ChatMessage => {
      const { content } = message;
      if (typeof content === 'string') return { ...message, content: this.#text(content) } as ChatMessage;
      return { ...message, content: content.map((part) => this.#part(part)) } as ChatMessage;
    });
  }

  /**
   * Writes the body of a request that was created from messages with marks.
   * @param step waits before each piece
   * @returns the text itself if nothing in it is long
   */
  async write(json: string, step: () => Promise<void>): Promise<string | WrittenBody> {
    if (this.#middles.length === 0 && json.length <= PIECE_CHARS) return json;
    let bytes = 0;
    for (const piece of this.#pieces(json)) {
      await step();
      bytes += Buffer.byteLength(piece);
    }
    const pieces = () => this.#pieces(json);
    async function* written(): AsyncGenerator<Buffer> {
      for (const piece of pieces()) {
        await step();
        yield Buffer.from(piece);
      }
    }
    return { bytes, stream: Readable.from(written()) };
  }

  *#pieces(json: string): Generator<string> {
    const [first = '', ...others] = json.split(this.#mark);
    yield* slices(first);
    for (const other of others) {
      const { text = '', isBase64 } = this.#middles[Number.parseInt(other.slice(0, NUMBER_CHARS), 36)] ?? {};
      for (const slice of slices(text)) yield isBase64 ? slice : JSON.stringify(slice).slice(1, -1);
      yield* slices(other.slice(NUMBER_CHARS));
    }
  }

  #part<Part extends { type: string }>(part: Part): Part {
    if (isFile(part)) {
      const { data, media_type } = part;
      return data === undefined || DECODED.test(media_type) ? part : { ...part, data: this.#short(data, true) };
    }
    if ('text' in part && typeof part.text === 'string') return { ...part, text: this.#text(part.text) };
    if ('output' in part && typeof part.output === 'string') return { ...part, output: this.#text(part.output) };
    return part;
  }

  #text(text: string): string {
    // Some SDKs trim texts.
    if (text.length <= LONG_CHARS) return text;
    return text.slice(0, KEPT_CHARS).trim() === '' || text.slice(-KEPT_CHARS).trim() === ''
      ? text
      : this.#short(text, false);
  }

  #short(text: string, isBase64: boolean): string {
    if (text.length <= LONG_CHARS) return text;
    const [from, to] = [wholeAt(text, KEPT_CHARS), wholeAt(text, text.length - KEPT_CHARS)];
    const number = this.#middles.push({ text: text.slice(from, to), isBase64 }) - 1;
    return text.slice(0, from) + this.#mark + number.toString(36).padStart(NUMBER_CHARS, '0') + text.slice(to);
  }
}

/** Follows each mark as its number: one base64 group. */
const NUMBER_CHARS = 4;

const isFile = (part: { type: string }): part is FilePart => part.type === 'file';

/** The nearest position at which a text can be cut without splitting a surrogate pair. */
const wholeAt = (text: string, at: number): number => (/[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at + 1 : at);

function* slices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = wholeAt(text, from + PIECE_CHARS);
    yield text.slice(from, to);
    from = to;
  }
}
