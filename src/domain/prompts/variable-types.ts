import { z } from 'zod';
import type { Parsed, ValueChecks } from '../prompt-rules/types.ts';
import type { JsonValue } from '../text/json.ts';
import { detailsOf } from '../text/schema-details.ts';
import { type ChatMessage, ChatMessages, FileValue } from './messages.ts';

const TYPES = {
  string: z.string('must be a string'),
  number: z.number('must be a number'),
  boolean: z.boolean('must be true or false'),
  json: undefined,
  messages: ChatMessages,
  file: FileValue,
} as const;

/** Checks values of variables with the schemas of the API. */
export const VALUE_CHECKS: ValueChecks<ChatMessage> = {
  typeFaults(type, value, at, limit) {
    const parsed = TYPES[type]?.safeParse(value);
    return parsed?.success === false ? detailsOf(parsed.error, at, limit) : [];
  },
  parseMessages: (value, at, limit) => parseAs(ChatMessages, value, at, limit),
  parseFile: (value, at, limit) => parseAs(FileValue, value, at, limit),
};

function parseAs<T>(schema: z.ZodType<T>, value: JsonValue, at: string, limit: number): Parsed<T> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { data: parsed.data } : { details: detailsOf(parsed.error, at, limit) };
}
