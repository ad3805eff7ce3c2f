import { isObject, type JsonValue } from '../../text/json.ts';
import { MAX_ATTRIBUTE_DEPTH } from '../limits.ts';

/** Further attributes of a list are not read. */
export const MAX_READ_ATTRIBUTES = 4_096;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An int64, which OTLP/JSON writes as text. */
function integerOf(value: unknown): JsonValue | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** JSON has neither NaN nor infinities: they become texts, as in OTLP/JSON. */
function doubleOf(value: unknown): JsonValue | undefined {
  if (typeof value === 'string') return value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  if (typeof value !== 'number') return undefined;
  return Number.isFinite(value) ? value : String(value);
}

function bytesOf(value: unknown): JsonValue | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : scalarOf(value, 'string');
}

const scalarOf = (value: unknown, type: 'string' | 'boolean'): JsonValue | undefined =>
  typeof value === type ? (value as string | boolean) : undefined;

/** An `AnyValue` as JSON. Null if it is empty, of an unknown kind, or too deep. */
export function jsonOf(any: unknown, depth = 0): JsonValue {
  if (!isObject(any) || depth > MAX_ATTRIBUTE_DEPTH) return null;
  const { arrayValue, kvlistValue } = any;
  if (isObject(arrayValue)) return listOf(arrayValue['values']).map((item) => jsonOf(item, depth + 1));
  if (isObject(kvlistValue)) return Object.fromEntries(attributesOf(kvlistValue['values'], depth + 1));
  return (
    scalarOf(any['stringValue'], 'string') ??
    scalarOf(any['boolValue'], 'boolean') ??
    integerOf(any['intValue']) ??
    doubleOf(any['doubleValue']) ??
    bytesOf(any['bytesValue']) ??
    null
  );
}

/** A list of `KeyValue`. If names repeat, the last one counts. */
export function attributesOf(list: unknown, depth = 0): Map<string, JsonValue> {
  const attributes = new Map<string, JsonValue>();
  for (const item of listOf(list).slice(0, MAX_READ_ATTRIBUTES))
    if (isObject(item)) attributes.set(textOf(item['key']), jsonOf(item['value'], depth));
  return attributes;
}

const HEX = /^[0-9a-f]+$/;

/** An id in hexadecimal digits. Undefined if it has another length or is zero. */
export function idOf(value: unknown, bytes: number): string | undefined {
  const id = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : textOf(value).toLowerCase();
  return id.length === bytes * 2 && HEX.test(id) && !/^0+$/.test(id) ? id : undefined;
}

/** Microseconds of a time in nanoseconds since 1970. Null if there is no time. */
export function microsecondsOf(value: unknown): number | null {
  const digits =
    typeof value === 'number' && Number.isFinite(value) ? BigInt(Math.trunc(value)).toString() : textOf(value);
  const time = /^\d{1,20}$/.test(digits) ? Number(digits.slice(0, -3)) : 0;
  return time > 0 && Number.isSafeInteger(time) ? time : null;
}
