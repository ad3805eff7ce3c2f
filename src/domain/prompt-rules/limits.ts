/**
 * The maximum number of characters of a filled prompt, including its files in base64. Otherwise a large value in many places
 * would grow without bound.
 */
export const MAX_RENDERED_CHARS = 4 * 1024 * 1024;
/** The maximum number of messages in one list. */
export const MAX_MESSAGES = 200;
/** The maximum number of parts in one message. */
export const MAX_PARTS = 100;
/** The maximum number of messages of a filled prompt, including those of its placeholders. */
export const MAX_FILLED_MESSAGES = 1_000;

export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
export const MEDIA_TYPE = /^[a-z]+\/[A-Za-z0-9.+*_-]+$/;

/** Standard base64 (RFC 4648, section 4) with its padding, in one pass. */
export function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** Whether it is an https address without credentials. */
export function isHttpsUrl(text: string): boolean {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' && url.username === '' && url.password === '';
  } catch {
    return false;
  }
}
