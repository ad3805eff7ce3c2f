import { z } from 'zod';
import { type RunComparison, VERDICTS } from '../../domain/evaluations/comparison.ts';
import { pathId } from '../../http/fields.ts';

export const CompareParams = z.object({ id: pathId('evaluation'), other: pathId('evaluation') });

const ChangedExample = z.strictObject({
  key: z.string(),
  seq_a: z.int().meta({ description: 'Its result in the run before: `/evaluations/{other}/results/{seq_a}`.' }),
  seq_b: z.int().meta({ description: 'Its result in the run after: `/evaluations/{id}/results/{seq_b}`.' }),
  score_a: z.number(),
  score_b: z.number(),
  difference: z.number(),
  failed_a: z.boolean(),
  failed_b: z.boolean(),
});

const ChangedExamples = z.strictObject({
  total: z.int(),
  examples: z.array(ChangedExample),
});

const UnmatchedExamples = z.strictObject({ total: z.int(), keys: z.array(z.string()) });

const EvaluatorComparison = z.strictObject({
  name: z.string(),
  score_a: z.number().nullable(),
  score_b: z.number().nullable(),
  difference: z.number().nullable(),
  regressions: z.int(),
  improvements: z.int(),
  unchanged: z.int(),
});

/**
 * The response of `GET /evaluations/{id}/compare/{other}`: `a` is `{other}` (before), `b` is `{id}` (after), and every
 * difference is b minus a. Scores are over the examples that both runs have, which need not be the scores of the runs.
 */
export const EvaluationComparison = z
  .strictObject({
    a: z.string(),
    b: z.string(),
    examples_compared: z.int(),
    score_a: z.number().nullable(),
    score_b: z.number().nullable(),
    difference: z.number().nullable(),
    interval: z.strictObject({ low: z.number(), high: z.number(), method: z.enum(['sign_flip', 'normal']) }).nullable(),
    p_value: z.number().nullable(),
    verdict: z.enum(VERDICTS),
    note: z.string(),
    regressions: ChangedExamples,
    improvements: ChangedExamples,
    unchanged: z.int(),
    only_in_a: UnmatchedExamples,
    only_in_b: UnmatchedExamples,
    by_evaluator: z.array(EvaluatorComparison),
  })
  .meta({ id: 'EvaluationComparison' }) satisfies z.ZodType<RunComparison>;
