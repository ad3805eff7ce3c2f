/**
 * Matches possible numbers that a double cannot represent exactly: 16 digits or more, or an exponent with three. Most texts
 * contain nothing like it.
 */
const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{3}/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Longer ones have more digits than any double. */
const MAX_CHARS = 1_100;
/** The limit of `toPrecision`. */
const MAX_PRECISION = 100;

/** A number of a JSON text that a double cannot represent exactly. */
export interface LongNumber {
  /** As written. */
  source: string;
  /** Its path from the root of the text. Names are as written, with their quotation marks. */
  path: (string | number)[];
}

/** The digits of a number without leading and trailing zeros, and the position of its point: the same for all ways to write it. */
function digitsOf(source: string): { digits: string; written: string } | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(source) ?? [];
  if (whole === '') return undefined;
  const all = whole + fraction;
  const begin = all.search(/[1-9]/);
  if (begin === -1) return { digits: '', written: '0' };
  const digits = all.slice(begin).replace(/0+$/, '');
  return { digits, written: `${sign}${digits}e${Number(exponent) + whole.length - begin}` };
}

/**
 * Whether a JSON number keeps its digits as a double: an integer must be written back digit for digit, any other number to the
 * same number of digits.
 */
export function keepsDigits(source: string): boolean {
  if (source.length < 16 && !/[eE]/.test(source)) return true;
  const value = Number(source);
  // Nearly all numbers are written this way.
  if (String(value) === source) return true;
  if (!Number.isFinite(value) || source.length > MAX_CHARS) return false;
  const given = digitsOf(source);
  if (given === undefined || given.written === digitsOf(String(value))?.written) return true;
  if (Number.isInteger(value) || given.digits.length > MAX_PRECISION) return false;
  return given.written === digitsOf(value.toPrecision(given.digits.length))?.written;
}

/** @returns the position of the closing quotation mark of the text that starts at `from` */
function endOfText(json: string, from: number): number {
  let end = json.indexOf('"', from + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/**
 * The first number of a JSON text whose digits a double does not keep. Undefined if there is none. The result is arbitrary if the
 * text is not JSON.
 */
export function findLongNumber(json: string): LongNumber | undefined {
  if (!SUSPECT.test(json)) return undefined;
  const path: (string | number)[] = [];
  let name = '';
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (char === '"') {
      const end = endOfText(json, at);
      // Only names are needed, which follow a brace or a comma of an object.
      if (typeof path.at(-1) === 'string') name = json.slice(at, end + 1);
      at = end;
    } else if (char === '{') path.push('');
    else if (char === '[') path.push(0);
    else if (char === '}' || char === ']') path.pop();
    else if (char === ':') path.splice(-1, 1, name);
    else if (char === ',') {
      const last = path.at(-1);
      if (typeof last === 'number') path.splice(-1, 1, last + 1);
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      NUMBER.lastIndex = at;
      const source = NUMBER.exec(json)?.[0] ?? char;
      if (!keepsDigits(source)) return { source, path };
      at += source.length - 1;
    }
  }
  return undefined;
}
