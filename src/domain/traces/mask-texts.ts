import { isIP } from 'node:net';
import { isObject, type JsonValue } from '../text/json.ts';

export const BUILT_IN_MASKS = ['email', 'card', 'phone', 'ip', 'secret'] as const;
export type BuiltInMask = (typeof BUILT_IN_MASKS)[number];

const digitsOf = (text: string) => text.replaceAll(/\D/g, '');

/** The Luhn checksum of card numbers. */
function isCard(text: string): boolean {
  const sum = Array.from(digitsOf(text))
    .reverse()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

const SECRETS = [
  'sk-[A-Za-z0-9_-]{20,250}',
  'pms_[A-Za-z0-9]{20,100}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}',
  '(?:AKIA|ASIA)[0-9A-Z]{16}',
  'gh[opsur]_[A-Za-z0-9]{36,255}',
  'github_pat_\\w{22,255}',
  'glpat-[\\w-]{20,100}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,250}',
  'AIza[\\w-]{35}',
  'hf_[A-Za-z0-9]{30,100}',
  'npm_[A-Za-z0-9]{36}',
  'eyJ[\\w-]{10,4000}\\.[\\w-]{10,8000}\\.[\\w-]{10,2000}',
  '[Bb]earer [\\w.~+/-]{20,8000}=*',
  '-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?',
].join('|');

/** Each takes time proportional to the text: a repetition is bounded, or cannot start within itself. */
const PATTERNS: Record<BuiltInMask, { pattern: RegExp; holds?: (match: string) => boolean }> = {
  email: { pattern: /(?<![\w.%+-])[\w.%+-]{1,200}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b/gi },
  card: { pattern: /(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)/g, holds: isCard },
  phone: {
    pattern:
      /(?<![\w.+-])(?:\+\d[\d ().-]{6,20}\d|\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}|0\d{1,4}[ /-]\d{3,8}(?:[ -]?\d{2,5})?)(?![\w-])(?! ?\d)/g,
    holds: (match) => digitsOf(match).length >= (match.startsWith('+') ? 8 : 9),
  },
  ip: {
    pattern: /(?<![\w:.])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})(?![\w:]|\.\d)/gi,
    holds: (match) => isIP(match) !== 0,
  },
  secret: { pattern: new RegExp(`(?<![\\w-])(?:${SECRETS})`, 'g') },
};

/** Attributes whose value is always a secret. */
const SECRET_NAME =
  /(?:^|[._-])(?:authorization|password|passwd|secret|client[_-]?secret|api[_-]?key|private[_-]?key|(?:access|refresh|auth)[_-]?token|cookie|set-cookie)$/i;

/** The replacement for a masked text. */
export const maskOf = (name: string): string => `[${name}]`;

/** Masks text of known forms. @param name the member that holds the text, if any */
export function maskText(text: string, masks: readonly BuiltInMask[], name?: string): string {
  if (name !== undefined && masks.includes('secret') && SECRET_NAME.test(name)) return maskOf('secret');
  return masks.reduce((masked, mask) => {
    const { pattern, holds } = PATTERNS[mask];
    return masked.replace(pattern, (match) => (holds === undefined || holds(match) ? maskOf(mask) : match));
  }, text);
}

/** Maps all texts in a value. @param change gets the name of the member that holds the text, if any */
export function mapTexts<Value>(value: Value, change: (text: string, name?: string) => string, name?: string): Value {
  const map = (inner: unknown, at?: string): unknown => {
    if (typeof inner === 'string') return change(inner, at);
    if (Array.isArray(inner)) return inner.map((item) => map(item, at));
    if (!isObject(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, member]) => [key, map(member as JsonValue, key)]));
  };
  return map(value, name) as Value;
}
