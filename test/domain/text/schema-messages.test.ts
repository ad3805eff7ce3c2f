import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { detailsOf } from '../../../src/domain/text/schema-details.ts';

const messageOf = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value);
  return error === undefined ? undefined : detailsOf(error)[0]?.message;
};

const tagged = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('a') }),
  z.strictObject({ type: z.literal('b') }),
]);

test.each<[z.ZodType, unknown, string]>([
  [z.string(), undefined, 'is required: a string'],
  [z.string(), ['a', 'b'], 'must be a string'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.boolean(), null, 'must be true or false'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.record(z.string(), z.string()), [], 'must be an object'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().min(1), '', 'must not be empty'],
  [z.array(z.string()).min(2), ['a'], 'must have at least 2 items'],
  [z.number().max(5), 6, 'must be at most 5'],
  [z.number().gt(5), 5, 'must be more than 5'],
  [z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
  [z.literal('x'), undefined, 'is required: "x"'],
  [z.number().multipleOf(5), 6, 'must be a multiple of 5'],
  [z.string('is a name'), 5, 'is a name'],
  [z.union([z.string(), z.array(z.string())]), true, 'must be a string, or a list'],
  [z.union([z.string(), z.array(z.string())]).optional(), null, 'must be a string, or a list'],
  [z.union([z.string(), z.strictObject({})]), { a: 1 }, 'is not a known field'],
  [z.union([z.strictObject({}), z.strictObject({ b: z.string() })]), 5, 'must be an object'],
  [tagged, { type: 'c' }, 'must be one of "a", "b"'],
  [tagged, {}, 'is required: one of "a", "b"'],
  [tagged, 'a', 'must be an object'],
])('a schema without its own message says what a value must be (%#)', (schema, value, message) => {
  expect(messageOf(schema, value)).toBe(message);
});
