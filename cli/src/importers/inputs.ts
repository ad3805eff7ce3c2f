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

/** What other products say of a variable. */
export interface FoundInput {
  /** By its name there; by its default where there is none. */
  type?: string | undefined;
  default?: unknown;
  description?: string | undefined;
  required?: boolean | undefined;
  enum?: unknown[] | undefined;
}

/** What is known of a variable, as a prompt here has it. */
export function readInput({ type, default: value, description, required, enum: values }: FoundInput): PromptInput {
  const known = type !== undefined && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const input = {
    type: known ?? (type === undefined ? typeOfValue(value) : 'json'),
    ...(value !== undefined && value !== null && { default: value }),
    ...(description !== undefined && description !== '' && { description: description.slice(0, 1000) }),
    ...(required !== undefined && { required }),
    ...(values !== undefined && values.length > 0 && { enum: values }),
  };
  // Checked as a whole with the version that it belongs to.
  return storableObject(input) as PromptInput;
}
