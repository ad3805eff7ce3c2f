import { z } from 'zod';
import { notFound } from '../domain/errors.ts';
import { ID_NAMES, ID_PREFIXES, type IdKind, parsePublicId } from '../domain/ids.ts';
import { nameSchema } from '../domain/name-schema.ts';
import { Label } from '../domain/prompts/label.ts';
import { promptNameProblem } from '../domain/prompts/prompt-name.ts';
import { isInsaneText } from '../domain/text/json-faults.ts';
import { jsonObject, smallRecord } from '../domain/text/json-object.ts';

/** A string without NUL and unpaired surrogates. JSON bodies are checked as a whole; queries and paths use this. */
export function storableString() {
  return z.string().refine((text) => !isInsaneText(text), 'must not contain NUL or an unpaired surrogate');
}

/**
 * A public id in a path, parsed to the stored UUID. An invalid id refers to nothing.
 * @throws ApiError `not_found`
 */
export function pathId(kind: IdKind) {
  return z
    .string()
    .max(100)
    .transform((text) => {
      const id = parsePublicId(kind, text);
      if (id === undefined) throw notFound(`This ${ID_NAMES[kind]}`);
      return id;
    });
}

/** The same in a query string or body, where an invalid id is an invalid field. */
export const publicIdInput = (kind: IdKind) =>
  z
    .string()
    .max(100)
    .transform((text, context) => {
      const id = parsePublicId(kind, text);
      if (id !== undefined) return id;
      context.addIssue({ code: 'custom', message: `must be the id of a ${ID_NAMES[kind]} (${ID_PREFIXES[kind]}_…)` });
      return z.NEVER;
    });

const hexId = (digits: number, of: string) =>
  z
    .string(`must be ${digits} hexadecimal digits`)
    .regex(new RegExp(`^(?!0+$)[0-9a-fA-F]{${digits}}$`), `must be ${digits} hexadecimal digits, not all zero`)
    .transform((text) => text.toLowerCase())
    .meta({ description: `${of}: ${digits} hexadecimal digits, as in OpenTelemetry.` });

/** OpenTelemetry ids in a query string or body. */
export const TraceIdInput = hexId(32, 'A trace').meta({ example: '5b8efff798038103d269b633813fc60c' });
export const SpanIdInput = hexId(16, 'A step of a trace').meta({ example: 'eee19b7ec3c1b174' });

/** The parameters of `/…/{id}`. */
export const idParams = (kind: IdKind) => z.object({ id: pathId(kind) });

/** A prompt's or dataset's name: segments joined by `/`. */
export const Name = nameSchema(promptNameProblem, 'support/greeting');

/** Warnings about requests that were carried out but are probably mistakes. */
export const Warnings = z.array(
  z.object({ path: z.string().meta({ example: 'template' }), message: z.string() }).meta({ id: 'Warning' }),
);

/** A whole number in a query string, with digits only. */
export function wholeNumber({
  min,
  max,
  description,
  byDefault,
}: {
  min: number;
  max: number;
  description: string;
  /** For documentation only. */
  byDefault?: number;
}) {
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,9})$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: 'integer', minimum: min, maximum: max, description });
        if (byDefault !== undefined) jsonSchema.default = byDefault;
      },
    });
}

/** The maximum version number. */
export const MAX_VERSION = 2_147_483_647;

/** A version number in a query string. */
export const VersionNumber = wholeNumber({ min: 1, max: MAX_VERSION, description: 'A version of the prompt, from 1.' });

/** The same in a body, without coercion. */
export const BodyVersion = z
  .int('must be a whole number from 1')
  .min(1, 'must be a whole number from 1')
  .max(MAX_VERSION, 'is too large')
  .meta({ description: 'A version of the prompt, from 1.', example: 3 });

/** A prompt version as in includes: the latest, `name@3` or `name@label`. */
export const PromptReference = z
  .string('must be a string')
  .transform((text, context): { promptName: string; version?: number; label?: string } => {
    const [name = '', ...selectors] = text.split('@', 3);
    const selector = selectors.join('@');
    const isVersion = /^\d{1,9}$/.test(selector);
    const wrong = (message = '') => {
      context.addIssue({ code: 'custom', message: `must be a prompt's name, name@3 or name@label: ${message}` });
      return z.NEVER;
    };
    const named = Name.safeParse(name);
    if (!named.success) return wrong(`the name ${named.error.issues[0]?.message}`);
    if (selectors.length === 0) return { promptName: name };
    const selected = isVersion ? BodyVersion.safeParse(Number(selector)) : Label.safeParse(selector);
    if (!selected.success) return wrong(`the part after "@" ${selected.error.issues[0]?.message}`);
    return isVersion ? { promptName: name, version: Number(selector) } : { promptName: name, label: selector };
  })
  .meta({
    description: 'A prompt: `name` (its latest version), `name@3` or `name@label`.',
    example: 'support/greeting@production',
  });

export const Timestamp = z.iso
  .datetime()
  .meta({ id: 'Timestamp', description: 'ISO 8601 in UTC with milliseconds.', example: '2026-01-31T12:00:00.000Z' });

/** The range that both PostgreSQL and four-digit years can represent. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** A boolean in a query string. */
export const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional();

/** A timestamp from a caller: ISO 8601 with a zone. */
export const TimestampInput = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date-time with a zone, such as 2026-01-31T12:00:00Z' })
  .transform((text) => new Date(text))
  .refine(
    (time) => time.getTime() >= EARLIEST_MS && time.getTime() <= LATEST_MS,
    'must be between the years 1 and 9999',
  )
  .meta({ example: '2026-01-31T12:00:00Z' });

/** The period in which records were created, for lists and data derived from them. */
export const CreationTime = {
  since: TimestampInput.optional().meta({ description: 'Created at or after this time.', param: { id: 'Since' } }),
  until: TimestampInput.optional().meta({ description: 'Created before this time.', param: { id: 'Until' } }),
};

/** Identifies a user who keeps getting the same version of a prompt during a release. */
export const RolloutKey = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(512, 'must be at most 512 characters')
  .meta({
    description:
      'Chooses between the versions of a release, such as the id of a user or conversation: the same key always gets the same version. ' +
      'Without a key, the choice is random for each execution. The key is not stored.',
    example: 'user-42',
  });

/** Values of template variables by name. */
export const Variables = jsonObject().meta({ example: { name: 'Ada' } });

/** The caller's metadata: names and values that the service only stores. */
export const Metadata = smallRecord(
  z.string().min(1).max(64, 'has a name longer than 64 characters'),
  z.string().max(512, 'must be at most 512 characters'),
  { max: 50, message: 'must have at most 50 entries', shown: { type: 'string', maxLength: 512 } },
).meta({ description: 'Up to 50 custom strings, returned unchanged.', example: { customer: 'acme' } });

/** Currently one of these; clients must accept others, which any minor version can add. */
export const growing = (names: readonly string[]) =>
  z.string().meta({ description: 'Minor versions may add values.', 'x-extensible-enum': [...names] });
