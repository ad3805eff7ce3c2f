import { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';
import type { JsonValue } from '../text/json.ts';
import { detailsOf } from '../text/schema-details.ts';
import { type ChatMessage, ChatMessages, FileValue } from './messages.ts';
import type { Input } from './prompt-content.ts';

const TYPES = {
  string: z.string('must be a string'),
  number: z.number('must be a number'),
  boolean: z.boolean('must be true or false'),
  json: undefined,
  messages: ChatMessages,
  file: FileValue,
} as const;

/** A value as what it is used as, or what is wrong with it. */
export interface Parsed<T> {
  data?: T;
  details?: ErrorDetail[];
}

/** What is wrong with a value of a type. */
export function typeFaults(type: Input['type'], value: JsonValue, at: string, limit: number): ErrorDetail[] {
  const parsed = TYPES[type]?.safeParse(value);
  return parsed?.success === false ? detailsOf(parsed.error, at, limit) : [];
}

export function parseMessages(value: JsonValue, at: string, limit: number): Parsed<ChatMessage[]> {
  return parseAs(ChatMessages, value, at, limit);
}

export function parseFile(value: JsonValue, at: string, limit: number): Parsed<FileValue> {
  return parseAs(FileValue, value, at, limit);
}

function parseAs<T>(schema: z.ZodType<T>, value: JsonValue, at: string, limit: number): Parsed<T> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { data: parsed.data } : { details: detailsOf(parsed.error, at, limit) };
}
