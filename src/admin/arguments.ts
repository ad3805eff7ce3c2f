import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { SCOPES, type Scope } from '../services/access/api-keys.ts';

/** Creates a commander parser from a schema. */
function parserOf<T>(schema: z.ZodType<T, string>): (text: string) => T {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'It is not valid.');
  };
}

const Name = z
  .string()
  .trim()
  .min(1, 'A name must not be empty.')
  .max(100, 'A name has at most 100 characters.')
  .regex(/^\P{C}*$/u, 'A name must not contain control characters.');

/** The name of a workspace or key. */
export const parseName = parserOf(Name);

/** An e-mail address; `owner@localhost` is valid, too. */
export const parseEmail = parserOf(
  z
    .email({ pattern: z.regexes.html5Email, error: 'It must be an e-mail address.' })
    .max(254, 'It has at most 254 characters.'),
);

/** `read,execute` */
export const parseScopes = parserOf(
  z.string().transform((text, context): Scope[] => {
    const known: readonly string[] = SCOPES;
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const unknown = names.find((name) => !known.includes(name));
    if (names.length > 0 && unknown === undefined) return SCOPES.filter((scope) => names.includes(scope));
    const fault = unknown === undefined ? 'Name at least one scope' : `There is no scope "${unknown}"`;
    context.addIssue({ code: 'custom', message: `${fault}; the scopes are ${SCOPES.join(', ')}.` });
    return z.NEVER;
  }),
);

/** A time in the future: ISO 8601 with a zone, or a date, meaning its start in UTC. */
export const parseExpiry = parserOf(
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], {
      error: 'It must be a time such as 2027-01-31T12:00:00Z, or a date.',
    })
    .transform((text) => new Date(text))
    .refine((time) => time.getTime() > Date.now(), 'It must be in the future.'),
);

/** Minutes, up to a day. */
export const parseMinutes = parserOf(
  z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'It must be a whole number of minutes.')
    .transform(Number)
    .refine((minutes) => minutes <= 1_440, 'It must be at most 1440 minutes, a day.'),
);

/** The reason for an action, in one line. */
export const parseReason = parserOf(
  z
    .string()
    .trim()
    .min(1, 'A reason must not be empty.')
    .max(500, 'A reason has at most 500 characters.')
    .regex(/^\P{C}*$/u, 'A reason must not contain control characters.'),
);
