/**
 * The maximum number of values of one JSON text, such as a body or an example: lists, objects, texts, numbers, `true`, `false`
 * and `null`, at any depth, without names. However short its text is, each value takes memory and time.
 */
export const MAX_JSON_VALUES = 100_000;

const [QUOTE, BACKSLASH, LIST, OBJECT, COLON] = [0x22, 0x5c, 0x5b, 0x7b, 0x3a];

/** The bytes of numbers, `true`, `false` and `null`, which do not occur between values. */
const IS_SCALAR = new Uint8Array(256);
for (const byte of Buffer.from('+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'))
  IS_SCALAR[byte] = 1;

/** @returns the position of the closing quotation mark of the text that starts at `from`; the length of `json` if there is none */
function endOfText(json: Uint8Array, from: number): number {
  const next = json.indexOf(QUOTE, from + 1);
  // Most texts have no escapes, and long ones are skipped quickly.
  if (next !== -1 && json[next - 1] !== BACKSLASH) return next;
  let at = from + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * Counts the values of a JSON text without parsing it, in time that is linear in its length. The result is arbitrary if the text is not JSON.
 * @param json in UTF-8
 * @param most counting stops above it
 */
export function countJsonValues(json: Uint8Array, most = Number.POSITIVE_INFINITY): number {
  let count = 0;
  let wasScalar = false;
  for (let at = 0; at < json.length && count <= most; at += 1) {
    const byte = json[at] ?? 0;
    if (IS_SCALAR[byte] === 1) {
      if (!wasScalar) count += 1;
      wasScalar = true;
      continue;
    }
    wasScalar = false;
    if (byte === QUOTE) {
      count += 1;
      at = endOfText(json, at);
    } else if (byte === LIST || byte === OBJECT) count += 1;
    else if (byte === COLON) count -= 1;
  }
  return count;
}
