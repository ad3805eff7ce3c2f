import { storableObject } from '../json.ts';
import type { PromptVersion } from '../prompt-version.ts';

export type PromptInput = NonNullable<PromptVersion['inputs']>[string];

const TYPES: Record<string, PromptInput['type']> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  float: 'number',
  boolean: 'boolean',
  bool: 'boolean',
  thread: 'messages',
  image: 'file',
  file: 'file',
  audio: 'file',
};

function typeOfValue(value: unknown): PromptInput['type'] {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'json';
}

/** A variable as described by another product. */
export interface FoundInput {
  /** The product's own type name; derived from the default if missing. */
  type?: string | undefined;
  default?: unknown;
  description?: string | undefined;
  required?: boolean | undefined;
  enum?: unknown[] | undefined;
}

/** Converts a variable to a prompt input. */
export function readInput({ type, default: value, description, required, enum: values }: FoundInput): PromptInput {
  const known = type !== undefined && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const input = {
    type: known ?? (type === undefined ? typeOfValue(value) : 'json'),
    ...(value !== undefined && value !== null && { default: value }),
    ...(description !== undefined && description !== '' && { description: description.slice(0, 1000) }),
    ...(required !== undefined && { required }),
    ...(values !== undefined && values.length > 0 && { enum: values }),
  };
  // Validated later, together with the version.
  return storableObject(input) as PromptInput;
}
