import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

/** Smaller responses gain less than it takes. */
const WORTH_IT = 8 * 1024;
/** Quick ones: a page of prompts takes some milliseconds, and not of the event loop. */
const BROTLI = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
};
const GZIP = { level: 5 };

/** Browsers name it behind `gzip` and like it as much. */
const TAKES_BROTLI = /(^|,)\s*br\s*(,|$)/i;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify<string, { level: number }, Buffer>(gzip);

/** Whether a response may be compressed: what is only read. It then says that it depends on `Accept-Encoding`. */
export function mayCompress(ctx: Context): boolean {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
  ctx.vary('Accept-Encoding');
  return true;
}

/** Compresses a text in a thread where the caller takes that and it is worth it, and sets `Content-Encoding`. */
export async function compress(ctx: Context, text: string): Promise<string | Buffer> {
  if (text.length < WORTH_IT) return text;
  const encoding = TAKES_BROTLI.test(ctx.get('Accept-Encoding'))
    ? 'br'
    : ctx.acceptsEncodings('gzip', 'br', 'identity');
  if (encoding !== 'br' && encoding !== 'gzip') return text;
  const bytes = encoding === 'br' ? await brotliAsync(text, BROTLI) : await gzipAsync(text, GZIP);
  ctx.set('Content-Encoding', encoding);
  return bytes;
}
