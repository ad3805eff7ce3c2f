import type { ErrorDetail, FileValue, Input, JsonValue, Message, ValueChecks } from './types.ts';

export type Variables = Record<string, JsonValue>;

/** How a variable is used, and what the prompt declares about it. */
export interface Variable {
  name: string;
  inText: boolean;
  /** Whether it is used, or declared by an input, as messages. */
  asMessages: boolean;
  asFile: boolean;
  /** Whether every placeholder for messages of this name is optional. */
  isOptional: boolean;
  input: Input | undefined;
}

/** A variable's value, for each kind of use. */
export interface Value<Chat extends Message> {
  text?: string | undefined;
  messages?: Chat[] | undefined;
  file?: FileValue | undefined;
}

/** What is wrong with a value of an input, both for `default` and for a run's value. */
export function inputFaults<Chat extends Message>(
  input: Input,
  value: JsonValue,
  at: string,
  limit: number,
  checks: ValueChecks<Chat>,
): ErrorDetail[] {
  const faults = checks.typeFaults(input.type, value, at, limit);
  if (faults.length > 0) return faults;
  if (input.enum !== undefined && !input.enum.some((allowed) => allowed === value))
    return [{ path: at, message: `must be one of ${listed(input.enum)}` }];
  return [];
}

const MAX_LISTED = 20;

function listed(values: readonly (string | number | boolean)[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value).slice(0, 100));
  return values.length > MAX_LISTED ? `${shown.join(', ')} …` : shown.join(', ');
}

/** Whether a run must provide a variable. */
export function isRequired({ input, isOptional }: Variable): boolean {
  return input?.required ?? (input?.default === undefined && !isOptional);
}

/** A run's value of a variable, ready to be filled in, or what is wrong with it. */
export function readValue<Chat extends Message>(
  variable: Variable,
  variables: Variables,
  limit: number,
  checks: ValueChecks<Chat>,
): Value<Chat> | ErrorDetail[] {
  const { name, input, inText, asMessages, asFile } = variable;
  const path = `variables.${name}`;
  const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
  const value = given === undefined && !isRequired(variable) ? input?.default : given;
  if (value === undefined) return isRequired(variable) ? [{ path, message: MISSING }] : {};
  if (value === null) return [{ path, message: NULL }];
  const messages = asMessages ? checks.parseMessages(value, path, limit) : undefined;
  const file = asFile ? checks.parseFile(value, path, limit) : undefined;
  const details = [
    ...(messages?.details ?? []),
    ...(file?.details ?? []),
    ...(input === undefined || asMessages || asFile ? [] : inputFaults(input, value, path, limit, checks)),
  ];
  if (details.length > 0) return details.slice(0, limit);
  return {
    ...(inText && { text: asText(value) }),
    ...(messages && { messages: messages.data }),
    ...(file && { file: file.data }),
  };
}

const MISSING = 'is missing: the template needs it';
const NULL = 'is null: use a string, number, boolean, object or array';

/** Strings are inserted unchanged, numbers and booleans as text, objects and arrays as compact JSON. */
function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
