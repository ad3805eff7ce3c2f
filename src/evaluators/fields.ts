import { z } from 'zod';

/** Names a score in `scores_by_evaluator` and in comparisons between runs. */
export const EvaluatorName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1–64 letters, digits, "_" or "-"')
  // As an object key it would set the prototype instead of a property.
  .refine((name) => name !== '__proto__', 'this name is reserved');

/** The maximum number of versions of a saved evaluator. */
export const MAX_SAVED_VERSIONS = 100;

// Forms are generated from an evaluator's schema (`GET /evaluators`), so its fields have `meta`: `title` is the label, `description` the
// help text. `x-enumDescriptions` are labels for the values of an enum, and `x-field` a control other than the default of the type:
// `long-text`, `model`, `json`, or `none`.

export const CaseSensitive = z.boolean().default(true).meta({ title: 'Upper and lower case differ' });
export const StripCodeFence = z.boolean().default(false).meta({ title: 'Accept JSON in a Markdown code block' });
export const PartialCredit = z
  .boolean()
  .default(true)
  .meta({ title: 'Score the share that matches', description: 'Otherwise, a partial match scores 0.' });

/** A version of a saved evaluator. */
export const SavedVersion = z.int().min(1).max(MAX_SAVED_VERSIONS);

/** Its share in an example's score, relative to the weights of the others. */
export const Weight = z.number().positive().max(1_000).default(1);

/** The fields that every evaluator's options have. */
export function evaluatorFields<Type extends string>(type: Type) {
  return {
    type: z.literal(type),
    name: EvaluatorName.default(type),
    weight: Weight,
    threshold: z.number().min(0).max(1).optional().meta({
      title: 'Passes from',
      description: 'A score of at least this counts as 1, any other as 0. If empty, the score itself counts.',
    }),
    /** Applied after `threshold`. */
    negate: z
      .boolean()
      .optional()
      .meta({ title: 'Invert the result', description: 'The score becomes 1 minus the score.' }),
    saved_version: SavedVersion.optional().meta({
      description: 'The version, if it is a saved evaluator. Set by the service.',
      'x-field': 'none',
    }),
  };
}
