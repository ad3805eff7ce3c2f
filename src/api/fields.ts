import { z } from 'zod';
import { MAX_NAME_LENGTH, promptNameProblem } from '../domain/prompt-name.ts';
import { insaneParts } from './json-body.ts';

/** Text without NUL or lone surrogates: bodies are checked as a whole, queries and paths by this. */
export function saneText() {
  return z.string().refine((text) => insaneParts(text).length === 0, 'must not hold NUL or half of a surrogate pair');
}

/** A prompt's or dataset's name: segments joined by `/`. */
export const Name = z
  .string('is required: a text')
  .check((context) => {
    const message = promptNameProblem(context.value);
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
  })
  .meta({
    description: `1–${MAX_NAME_LENGTH} characters: segments of letters, digits, ".", "_" and "-", joined by "/".`,
    example: 'support/greeting',
  });

/** A label of a prompt version. */
export const Label = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1–64 letters, digits, ".", "_" or "-"')
  .meta({
    description: 'A label such as `production`; `latest` always means the newest version.',
    example: 'production',
  });

/** A version number, also from a query string. */
export const VersionNumber = z.coerce
  .number('must be a whole number from 1')
  .int('must be a whole number from 1')
  .min(1, 'must be a whole number from 1')
  .max(2_147_483_647, 'is too large')
  .meta({ description: 'A version of the prompt, from 1.', example: 3 });

/** The same in a body: no coercion. */
export const BodyVersion = z
  .int('must be a whole number from 1')
  .min(1, 'must be a whole number from 1')
  .max(2_147_483_647, 'is too large')
  .meta({ description: 'A version of the prompt, from 1.', example: 3 });

/** A model's name, `provider/model` or a bare name that one provider is known to serve. */
export const ModelName = z
  .string('is required: a text')
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without spaces')
  .meta({
    description: '`openai/…`, `anthropic/…`, `google/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.',
    example: 'openai/gpt-4o-mini',
  });

export const Timestamp = z.iso
  .datetime()
  .meta({ description: 'ISO 8601 in UTC with milliseconds.', example: '2026-01-31T12:00:00.000Z' });

/** A point in time from a caller: ISO 8601 with a zone. */
export const TimestampInput = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date-time with a zone, such as 2026-01-31T12:00:00Z' })
  .transform((text) => new Date(text))
  .meta({ example: '2026-01-31T12:00:00Z' });

/** Values of a template's variables by name. */
export const Variables = z.record(z.string(), z.json()).meta({ example: { name: 'Ada' } });

/** Free labels of a caller's own. */
export const Metadata = z
  .record(
    z.string().min(1).max(64, 'has a name longer than 64 characters'),
    z.string().max(512, 'must be at most 512 characters'),
  )
  .refine((map) => Object.keys(map).length <= 50, 'must have at most 50 entries')
  .meta({ description: 'Up to 50 texts of your own, returned as they are.', example: { customer: 'acme' } });
