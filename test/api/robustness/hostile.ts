import { z } from 'zod';

/** A JSON Schema as far as it matters for walking through it. */
type Schema = {
  $ref?: string | undefined;
  properties?: Record<string, Schema> | undefined;
  items?: Schema | undefined;
  anyOf?: Schema[] | undefined;
  oneOf?: Schema[] | undefined;
  allOf?: Schema[] | undefined;
};
const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    properties: z.record(z.string(), Schema).optional(),
    items: Schema.optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
    allOf: z.array(Schema).optional(),
  }),
);

const MAX_STEPS = 4;

/** A position in a body where a value can be. */
export interface Place {
  /** `['parameters', 'stop', 0]` */
  steps: (string | number)[];
  /** Its position in the named schemas: `Parameters stop 0`. */
  within: string[];
  /** Its own schemas, as JSON. */
  schemas: string[];
}

/** All positions in a body of this schema. */
export function placesIn(document: unknown, schema: unknown): Place[] {
  const places = new Map<string, Place>();
  const visit = (given: Schema, steps: (string | number)[], from: { schema: string; at: number }): void => {
    if (steps.length > MAX_STEPS) return;
    let at = given;
    const { within = [], schemas = [] } = places.get(steps.join(' ')) ?? {};
    const position = [from.schema, ...steps.slice(from.at)].join(' ');
    const place = { steps, within: [...within, position], schemas: [...schemas, JSON.stringify(given)] };
    let inside = from;
    if (given.$ref !== undefined) {
      inside = { schema: given.$ref, at: steps.length };
      let target: unknown = document;
      for (const step of given.$ref.split('/').slice(1)) target = Object(target)[step];
      at = Schema.parse(target);
    }
    if (steps.length > 0) places.set(steps.join(' '), place);
    for (const [name, property] of Object.entries(at.properties ?? {})) visit(property, [...steps, name], inside);
    if (at.items) visit(at.items, [...steps, 0], inside);
    for (const part of [...(at.anyOf ?? []), ...(at.oneOf ?? []), ...(at.allOf ?? [])]) visit(part, steps, inside);
  };
  visit(Schema.parse(schema), [], { schema: JSON.stringify(schema), at: 0 });
  return [...places.values()];
}

/** A copy of a JSON value with another value at a place, creating missing parents. */
export function withValueAt(body: unknown, [step, ...rest]: (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') return [withValueAt(Array.isArray(body) ? body[step] : undefined, rest, value)];
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {};
  return { ...fields, [step]: withValueAt(Object.entries(fields).find(([name]) => name === step)?.[1], rest, value) };
}

const nested = (depth: number): unknown => JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`);

/** Named values that break code not written for them. `undefined` omits the field. */
export const HOSTILE_VALUES: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['true', true],
  ['-1', -1],
  ['0', 0],
  ['1.5', 1.5],
  ['1e308', 1e308],
  ['2^53', 2 ** 53],
  ['2^31', 2 ** 31],
  ['an empty text', ''],
  ['a space', ' '],
  ['a word', 'x'],
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['a long text', 'x'.repeat(300_000)],
  ['odd letters', '\u202e\u{1f642}\ufeff\u0000'.slice(0, 4)],
  ['SQL', `'; drop table prompts; --`],
  ['a path', '../../etc/passwd'],
  ['a template', '{{ x }} %s $&'],
  ['a year of zero', '0000-01-01T00:00:00Z'],
  ['a year beyond', '9999-12-31T23:59:59.999-23:59'],
  ['no such day', '2026-02-30T00:00:00Z'],
  ['digits', '9'.repeat(400)],
  ['an empty list', []],
  ['lists in lists', [[[]]]],
  ['a long list', Array.from({ length: 2_000 }, () => 'x')],
  ['a list of many kinds', [null, 1, 'x', {}, []]],
  ['an empty object', {}],
  ['names of prototypes', { constructor: 1, toString: null, hasOwnProperty: {} }],
  ['a long name', { ['k'.repeat(100_000)]: 1 }],
  ['many names', Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index]))],
  ['deep nesting', nested(500)],
];

/** Maximum size of the values of nested fields, in characters of JSON. */
const MAX_DEEP_CHARS = 10_000;
const SMALL_VALUES = HOSTILE_VALUES.filter(([, value]) => (JSON.stringify(value) ?? '').length <= MAX_DEEP_CHARS);

/** All values for the fields of a body; fewer and shorter ones for nested fields, which the same code parses. */
export function valuesFor(place: (string | number)[]): [string, unknown][] {
  return place.length <= 1 ? HOSTILE_VALUES : SMALL_VALUES.filter((_, index) => index % 5 === place.length % 5);
}

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Named bodies that are not JSON objects in UTF-8. */
export const HOSTILE_BODIES: [string, string | Uint8Array<ArrayBuffer>][] = [
  ['nothing', ''],
  ['spaces', '  \n '],
  ['a word', 'nonsense'],
  ['half an object', '{"a":'],
  ['a comma too many', '{"a":1,}'],
  ['single quotes', `{'a':1}`],
  ['a comment', '{} // x'],
  ['NaN', '{"a":NaN}'],
  ['two objects', '{}{}'],
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '5'],
  ['a text', '"x"'],
  ['a list', '[]'],
  ['__proto__', '{"__proto__":{"admin":true}}'],
  ['constructor', '{"constructor":{"prototype":{"admin":true}}}'],
  ['a number out of range', '{"a":1e400}'],
  ['NUL in a name', '{"\\u0000":1}'],
  ['half a surrogate pair in a name', '{"\\ud800":1}'],
  ['5,000 lists', '['.repeat(5_000) + ']'.repeat(5_000)],
  ['5,000 objects', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
  ['100,000 brackets', '['.repeat(100_000)],
  ['no UTF-8', bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
  ['half a letter', bytes(0x7b, 0x22, 0xc3)],
  ['an encoded surrogate', bytes(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0)],
  ['a form', 'a=1&b=2'],
  ['2 MiB', 'x'.repeat(2 * 1024 * 1024)],
  ['2 MiB of JSON', `{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`],
];

/** Headers under which no body is JSON, each with a name. */
export const HOSTILE_HEADERS: [string, Record<string, string>][] = [
  ['text', { 'Content-Type': 'text/plain' }],
  ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['parts', { 'Content-Type': 'multipart/form-data; boundary=x' }],
  ['almost JSON', { 'Content-Type': 'application/jsonx' }],
  ['nonsense', { 'Content-Type': ';;;' }],
  ['another charset', { 'Content-Type': 'application/json; charset=utf-16' }],
  ['gzip', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
  ['br', { 'Content-Type': 'application/json', 'Content-Encoding': 'br' }],
];

/** Values of a query parameter, as they are sent. */
export const HOSTILE_QUERY_VALUES = [
  '',
  '%00',
  '%ff',
  '%',
  '%zz',
  '%ED%A0%80',
  'a%20b',
  '-1',
  '0',
  '1e2',
  '0x10',
  '1.5',
  'NaN',
  'null',
  '99999999999999999999',
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  '%F0%9F%99%82',
  `'%20or%201=1`,
  '%25',
  '%5C',
  '[]',
  '{}',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999-23:59',
];

/** Segments of a path, as they are sent. */
export const HOSTILE_SEGMENTS = [
  '%00',
  '%ff',
  '%zz',
  '%',
  '%ED%A0%80',
  '%2e%2e',
  '%2E',
  '..%2f..',
  '%252e%252e',
  '%2F',
  '%2F%2F',
  'a%2F%2Fb',
  '%5C',
  '%20',
  '%F0%9F%99%82',
  `'%20or%201=1`,
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  '%25',
  '*',
  ':name',
  '(.*)',
  '{name}',
  '%7Bname%7D',
  '%0d%0aX-Evil:%201',
  'exec_00000000-0000-0000-0000-000000000000',
  'key_',
  '0',
  'null',
  'undefined',
  ';',
  '%3F',
  '%23',
  '+',
];
