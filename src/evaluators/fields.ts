import { z } from 'zod';

/** Names a score in `scores_by_evaluator` and in comparisons between runs. */
const EvaluatorName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1–64 letters, digits, "_" or "-"')
  // As a key of an object it would set the prototype instead of a property.
  .refine((name) => name !== '__proto__', 'this name is reserved');

/** The fields that every evaluator's options have. */
export function evaluatorFields<Type extends string>(type: Type) {
  return {
    type: z.literal(type),
    name: EvaluatorName.default(type),
    /** Its share in an example's score, beside the weights of the others. */
    weight: z.number().positive().max(1_000).default(1),
  };
}
