import ms, { type StringValue } from 'ms';
import { z } from 'zod';

// The formats of setting values.

export const Port = z.coerce.number('must be a port number').int().min(0).max(65_535);
export const Count = z.coerce.number('must be a whole number').int().min(0);

/** A key sent in a header. An error for an invalid header value would show the key in logs. */
export const HeaderValue = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces: copy the key again');

/** `250ms`, `10s`, `2m`, `6h` to milliseconds. */
export const Duration = z.string().transform((text, context) => {
  const value = /^\d+(\.\d+)?\s*(ms|s|m|h|d)$/.test(text.trim()) ? ms(text.trim() as StringValue) : Number.NaN;
  if (!(value > 0 && value <= 2 ** 31 - 1)) {
    context.addIssue({ code: 'custom', message: 'must be a duration with a unit: 500ms, 10s, 2m or 6h' });
    return z.NEVER;
  }
  return value;
});

const UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

/** `10GiB` to bytes. */
export const Bytes = z
  .string()
  .regex(/^(0|\d{1,6}\s*(B|KiB|MiB|GiB|TiB))$/, 'must be a size with a unit, such as 500MiB or 10GiB, or 0')
  .transform((text) => {
    const [unit = 'B'] = Object.keys(UNITS)
      .filter((name) => text.endsWith(name))
      .slice(-1);
    return Number.parseInt(text, 10) * (unit in UNITS ? UNITS[unit as keyof typeof UNITS] : 1);
  });

/** `30d` to milliseconds: can be longer than a timer. */
export const Retention = z.string().transform((text, context) => {
  const value = /^\d+(\.\d+)?\s*(m|h|d)$/.test(text.trim()) ? ms(text.trim() as StringValue) : Number.NaN;
  if (!(value > 0)) {
    context.addIssue({ code: 'custom', message: 'must be a time with its unit: 12h or 30d' });
    return z.NEVER;
  }
  return value;
});

/** `1m,5m,30m` to milliseconds. */
export const Waits = z.string().transform((text, context) => {
  const waits = text.split(',').map((wait) => Duration.safeParse(wait));
  if (waits.some(({ success }) => !success)) {
    context.addIssue({
      code: 'custom',
      message: 'must be durations with units, separated by commas: 1m,5m,30m,2h,6h',
    });
    return z.NEVER;
  }
  return waits.map(({ data }) => data ?? 0);
});

/** Keys of 32 bytes in base64, separated by commas. */
export const EncryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'));
  if (keys.some((key) => key.length !== 32)) {
    context.addIssue({
      code: 'custom',
      message: 'must be 32 bytes in base64 (make one with `openssl rand -base64 32`); separate several by commas',
    });
    return z.NEVER;
  }
  return keys;
});

/** Payload keys. The first one encrypts, unless `encrypts` is false; all decrypt. */
export interface PayloadKeys {
  encrypts: boolean;
  keys: Buffer[];
}

const NO_KEY = /^\s*none\s*,/;

/** Like EncryptionKeys. A leading `none` disables encryption; encrypted payloads can still be read. */
export const PayloadKeys = z.string().transform((text, context): PayloadKeys => {
  const { data: keys, error } = EncryptionKeys.safeParse(text.replace(NO_KEY, ''));
  if (keys !== undefined) return { encrypts: !NO_KEY.test(text), keys };
  for (const { message } of error.issues) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** `https://app.example.com,http://localhost:5173`, each as a browser sends it in `Origin`. */
export const Origins = z.string().transform((text, context) => {
  const origins = text.split(',').map((origin) => origin.trim());
  const wrong = origins.find((origin) => !/^https?:/.test(origin) || URL.parse(origin)?.origin !== origin);
  if (wrong === undefined) return origins;
  context.addIssue({
    code: 'custom',
    message: `must be origins such as https://app.example.com, separated by commas: "${wrong}" is not an origin`,
  });
  return z.NEVER;
});
