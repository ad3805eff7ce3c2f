import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

/** Smaller responses are not worth compressing. */
const WORTH_IT = 8 * 1024;
/** Fast settings: a page of prompts takes a few milliseconds, off the event loop. */
const BROTLI = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
};
const GZIP = { level: 5 };

/** Browsers list it after `gzip` with equal preference. */
const TAKES_BROTLI = /(^|,)\s*br\s*(,|$)/i;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify<string | Buffer, { level: number }, Buffer>(gzip);

/** Whether a response may be compressed: only reads may. Also sets `Vary: Accept-Encoding`. */
export function mayCompress(ctx: Context): boolean {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
  ctx.vary('Accept-Encoding');
  return true;
}

/** The encoding for a text of this length; undefined to send it uncompressed. */
function encodingFor(ctx: Context, length: number): 'br' | 'gzip' | undefined {
  if (length < WORTH_IT) return undefined;
  if (TAKES_BROTLI.test(ctx.get('Accept-Encoding'))) return 'br';
  const encoding = ctx.acceptsEncodings('gzip', 'br', 'identity');
  return encoding === 'br' || encoding === 'gzip' ? encoding : undefined;
}

function encode(text: string | Buffer, encoding: 'br' | 'gzip'): Promise<Buffer> {
  return encoding === 'br' ? brotliAsync(text, BROTLI) : gzipAsync(text, GZIP);
}

/** Compresses a text in a thread if the caller accepts that and it is worth it, and sets `Content-Encoding`. */
export async function compress(ctx: Context, text: string): Promise<string | Buffer> {
  const encoding = encodingFor(ctx, text.length);
  if (encoding === undefined) return text;
  const bytes = await encode(text, encoding);
  ctx.set('Content-Encoding', encoding);
  return bytes;
}

/** A text that is the same for every caller, or the bytes of a file. It is compressed once per encoding, even for concurrent requests. */
export class FixedText {
  readonly #bytes: Buffer;
  readonly #encoded = new Map<'br' | 'gzip', Promise<Buffer>>();

  constructor(text: string | Buffer) {
    this.#bytes = Buffer.from(text);
  }

  get text(): string {
    return this.#bytes.toString();
  }

  /** Sets the text as the response body. The caller sets the type. */
  async send(ctx: Context): Promise<void> {
    const encoding = mayCompress(ctx) ? encodingFor(ctx, this.#bytes.length) : undefined;
    if (encoding === undefined) {
      ctx.body = this.#bytes;
      return;
    }
    ctx.body = await (this.#encoded.get(encoding) ?? this.#encode(encoding));
    ctx.set('Content-Encoding', encoding);
  }

  /** Caches the promise, so that concurrent requests share it. A failure is not cached. */
  #encode(encoding: 'br' | 'gzip'): Promise<Buffer> {
    const encoded = encode(this.#bytes, encoding);
    this.#encoded.set(encoding, encoded);
    encoded.catch(() => this.#encoded.delete(encoding));
    return encoded;
  }
}
