import { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** The unit of a size, by the type of the value. */
const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  record: 'field',
  object: 'field',
};

function boundOf(origin: string, isUpper: boolean, bound: number | bigint, inclusive = true): string {
  const unit = UNITS[origin];
  if (unit !== undefined) {
    if (!isUpper && Number(bound) === 1) return 'must not be empty';
    return `must have at ${isUpper ? 'most' : 'least'} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
  }
  if (inclusive) return `must be at ${isUpper ? 'most' : 'least'} ${bound}`;
  return `must be ${isUpper ? 'less' : 'more'} than ${bound}`;
}

type Issues = readonly z.core.$ZodIssue[];

const isOfAnotherType = (issues: Issues) =>
  issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);

/** What a value of a union must be: the alternative of its type, otherwise all of them. */
function noneOf(alternatives: readonly Issues[]): string | undefined {
  const alike = alternatives.filter((issues) => !isOfAnotherType(issues));
  const messages = (alike.length > 0 ? alike : alternatives).flatMap(([first]) =>
    first === undefined ? [] : [[...first.path.map(String), first.message].join(' ')],
  );
  const [said, ...others] = new Set(messages);
  if (said === undefined) return undefined;
  const verb = /^(must be|is required:) /.exec(said)?.[0] ?? '';
  return [said, ...others.map((each) => (each.startsWith(verb) ? each.slice(verb.length) : each))].join(', or ');
}

/** What the discriminating field of a union of objects must be. */
function noneOfTags(issue: RawIssue & { code: 'invalid_union' }): string | undefined {
  if (issue.discriminator === undefined || !('options' in issue) || !Array.isArray(issue.options)) return undefined;
  const what = `one of ${issue.options.map((option) => JSON.stringify(option)).join(', ')}`;
  const given: unknown = Object(issue.input)[issue.discriminator];
  return given === undefined ? `is required: ${what}` : `must be ${what}`;
}

/** What a value must be, in words that can follow its path. Undefined: zod's own message is used. */
function messageOf(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const type = TYPES[issue.expected] ?? issue.expected;
      return issue.input === undefined ? `is required: ${type}` : `must be ${type}`;
    }
    case 'invalid_value': {
      const values = issue.values.map((value) => JSON.stringify(value)).join(', ');
      const what = issue.values.length === 1 ? values : `one of ${values}`;
      return issue.input === undefined ? `is required: ${what}` : `must be ${what}`;
    }
    case 'too_big':
      return boundOf(issue.origin, true, issue.maximum, issue.inclusive);
    case 'too_small':
      return boundOf(issue.origin, false, issue.minimum, issue.inclusive);
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.slice(0, 5).join(', ')}`;
    case 'invalid_union':
      return noneOf(issue.errors) ?? noneOfTags(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return undefined;
  }
}

/** Gives plain messages to all schemas of this process that lack their own. */
export function setErrorMessages(): void {
  z.config({ customError: messageOf });
}
