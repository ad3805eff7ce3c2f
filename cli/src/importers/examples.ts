import type { JsonValue } from '../../../src/domain/text/json.ts';
import { insaneParts } from '../../../src/domain/text/json-faults.ts';
import { isObject } from '../json.ts';
import { NameClashError, type VariableNames } from '../names.ts';
import type { Example, NoteExample } from './model.ts';

const MAX_ID_LENGTH = 200;
const MAX_EXAMPLE_BYTES = 1024 * 1024;

/** An example of another product. */
export interface RawExample {
  id?: unknown;
  /** An object of values, or one value. */
  input: unknown;
  /** Undefined if there is no expected value. */
  expected?: unknown;
  metadata?: unknown;
}

/**
 * Converts an example for the service; undefined, with a note, if that is impossible.
 * @param at its location, for the note
 */
export function readExample(raw: RawExample, names: VariableNames, note: NoteExample, at: string): Example | undefined {
  const [problem] = insaneParts(raw as unknown as JsonValue);
  if (problem !== undefined) {
    note('left out', `an example: ${problem.path} ${problem.message}`, at);
    return undefined;
  }
  const example: Example = { variables: {} };
  if (isObject(raw.input)) {
    try {
      for (const [key, value] of Object.entries(raw.input)) {
        const name = names.of(key);
        if (name !== key) note('changed', `the variable "${key}" is called "${name}"`, at);
        example.variables[name] = value;
      }
    } catch (error) {
      if (!(error instanceof NameClashError)) throw error;
      note('left out', `an example: ${error.message}`, at);
      return undefined;
    }
  } else {
    example.variables = { input: raw.input ?? null };
    note('changed', 'an input that is not an object becomes the variable "input"', at);
  }
  const { id } = raw;
  if (typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH && !id.startsWith('sha256:')) example.id = id;
  else if (id !== undefined && id !== null && id !== '') note('changed', 'an invalid id is left out', at);
  if (raw.expected !== undefined) example.expected = raw.expected;
  const { metadata } = raw;
  if (isObject(metadata)) {
    if (Object.keys(metadata).length > 0) example.metadata = metadata;
  } else if (metadata !== undefined && metadata !== null) {
    example.metadata = { metadata };
    note('changed', 'metadata that is not an object becomes the entry "metadata"', at);
  }
  if (Buffer.byteLength(JSON.stringify(example)) > MAX_EXAMPLE_BYTES) {
    note('left out', `an example is larger than ${MAX_EXAMPLE_BYTES} bytes`, at);
    return undefined;
  }
  return example;
}
