import { createHash, hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../text/canonical-json.ts';
import { AnyJson, jsonObject } from '../text/json-object.ts';

/** The prefix of the key of an example without an id, which is reserved. */
export const CONTENT_KEY_PREFIX = 'sha256:';

/** One example of a dataset or an evaluation, as written by callers. */
export const Example = z
  .strictObject({
    id: z
      .string('must be a string')
      .min(1, 'must not be empty')
      .max(200, 'must be at most 200 characters')
      .refine((id) => !id.startsWith(CONTENT_KEY_PREFIX), `must not start with "${CONTENT_KEY_PREFIX}"`)
      .optional()
      .meta({
        description: 'Identifies the example across versions. Default: a hash of its content.',
        example: 'greeting-1',
      }),
    variables: jsonObject('is required: an object with a value for each placeholder').meta({
      description: 'A value for each placeholder of the prompt.',
      example: { name: 'Ada' },
    }),
    expected: AnyJson.optional().meta({
      override: { description: 'The expected output. Any JSON.' },
      example: 'Hello Ada!',
    }),
    metadata: jsonObject()
      .optional()
      .meta({ description: 'Your own metadata, returned unchanged.', example: { source: 'support' } }),
  })
  .meta({ id: 'Example' });

export type Example = z.infer<typeof Example>;

/** An example's parts as canonical JSON, which are hashed and stored. */
export interface ExampleContent {
  variables: string;
  /** null: nothing is expected; the text `null`: null is expected. */
  expected: string | null;
  metadata: string | null;
}

export function contentOf({ variables, expected, metadata }: Example): ExampleContent {
  return {
    variables: canonicalJson(variables),
    expected: expected === undefined ? null : canonicalJson(expected),
    metadata: metadata === undefined ? null : canonicalJson(metadata),
  };
}

/** The minimum size of an example in a dataset. */
export const contentBytes = ({ variables, expected, metadata }: ExampleContent): number =>
  Buffer.byteLength(variables) + Buffer.byteLength(expected ?? '') + Buffer.byteLength(metadata ?? '');

/** SHA-256 in hex over the canonical JSON of `{expected, variables}`: the same for equal examples, whatever their metadata. */
export function contentHash({ variables, expected }: ExampleContent): string {
  const json = expected === null ? `{"variables":${variables}}` : `{"expected":${expected},"variables":${variables}}`;
  return hash('sha256', json);
}

/** Identifies a set of examples. */
export interface ExamplesHash {
  add(key: string, content: ExampleContent): void;
  digest(): Buffer;
}

/** SHA-256 over a line of canonical JSON for each example in order: `[key, variables]` or `[key, variables, expected]`. */
export function createExamplesHash(): ExamplesHash {
  const digest = createHash('sha256');
  return {
    add(key, { variables, expected }) {
      digest.update(`[${JSON.stringify(key)},${variables}${expected === null ? '' : `,${expected}`}]\n`);
    },
    digest: () => digest.digest(),
  };
}
