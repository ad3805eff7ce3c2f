import { z } from 'zod';
import { type RunComparison, VERDICTS, WITHHELD } from '../../domain/evaluations/comparison.ts';
import { PREFERENCE_SOURCES, PREFERENCE_VERDICTS } from '../../domain/evaluations/preference.ts';
import { Flag, growing, pathId, storableString, wholeNumber } from '../../http/fields.ts';
import { MetadataQuery, metadataGoesTogether } from './results-schema.ts';

export const CompareParams = z.object({ id: pathId('evaluation'), other: pathId('evaluation') });

const name = () => storableString().min(1, 'must not be empty').max(200, 'must be at most 200 characters');

export const CompareQuery = z
  .strictObject({
    evaluator: name().optional().meta({
      description:
        'The evaluator whose scores are compared; both runs must have it. Default: the scores of the examples.',
    }),
    ...MetadataQuery,
    group_by: name().optional().meta({
      description: 'A metadata key of the examples: `by_group` compares each of its values separately.',
      example: 'topic',
    }),
    unchanged: Flag.meta({ description: 'Whether `unchanged_examples` lists the examples with the same score.' }),
    limit: wholeNumber({
      min: 1,
      max: 1000,
      description: 'The maximum number of examples of each kind.',
      byDefault: 100,
    }).default(100),
  })
  .refine(...metadataGoesTogether);

const ChangedExample = z.strictObject({
  key: z.string(),
  seq_a: z.int().meta({ description: 'The result in the earlier run: `/evaluations/{other}/results/{seq_a}`.' }),
  seq_b: z.int().meta({ description: 'The result in the later run: `/evaluations/{id}/results/{seq_b}`.' }),
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

export const EvaluatorComparison = z.strictObject({
  name: z.string(),
  score_a: z.number().nullable(),
  score_b: z.number().nullable(),
  difference: z.number().nullable(),
  regressions: z.int(),
  improvements: z.int(),
  unchanged: z.int(),
});

const Interval = z.strictObject({ low: z.number(), high: z.number(), method: z.enum(['sign_flip', 'normal']) });

const GroupComparison = z.strictObject({
  value: z
    .string()
    .nullable()
    .meta({ description: 'As text, truncated to 200 characters. Null for examples without this key.' }),
  examples: z.int(),
  score_a: z.number(),
  score_b: z.number(),
  difference: z.number(),
  interval: Interval.nullable(),
  verdict: z.enum(VERDICTS),
  regressions: z.int(),
  improvements: z.int(),
});

const LeftOutEvaluator = z.strictObject({
  name: z.string(),
  reason: z.enum(['only_in_a', 'only_in_b', 'changed']),
});

/**
 * The response of `GET /evaluations/{id}/compare/{other}`: `a` is `{other}` (before), `b` is `{id}` (after), and every
 * difference is b minus a. Scores cover only the examples that both runs have, so they can differ from the scores of the runs.
 */
export const EvaluationComparison = z
  .strictObject({
    a: z.string(),
    b: z.string(),
    examples_compared: z.int(),
    examples_unscored: z.int().optional().meta({
      description: 'Examples of both runs that are not compared because an evaluator gave no score in one of them.',
    }),
    score_a: z.number().nullable(),
    score_b: z.number().nullable(),
    difference: z.number().nullable(),
    interval: Interval.nullable(),
    p_value: z.number().nullable(),
    verdict: z.enum(VERDICTS),
    withheld: z
      .enum(WITHHELD)
      .nullable()
      .meta({
        description:
          'Why `verdict` does not describe the difference. `not_comparable`: the runs share no unchanged evaluator. `failures`: more than a tenth ' +
          'of the examples failed in one of the runs, or have no score.',
      }),
    comparable: z
      .boolean()
      .meta({ description: 'Whether the runs share an unchanged evaluator. If not, there are no scores.' }),
    left_out_evaluators: z
      .array(LeftOutEvaluator)
      .meta({ description: 'Evaluators that the scores and the verdict leave out, because the runs differ in them.' }),
    note: z.string(),
    regressions: ChangedExamples,
    improvements: ChangedExamples,
    unchanged: z.int(),
    only_in_a: UnmatchedExamples,
    only_in_b: UnmatchedExamples,
    by_evaluator: z.array(EvaluatorComparison),
    by_group: z
      .strictObject({ total: z.int(), groups: z.array(GroupComparison) })
      .optional()
      .meta({ description: 'With `group_by`: the 50 largest groups.' }),
    preferences: z
      .array(
        z.strictObject({
          source: growing(PREFERENCE_SOURCES).meta({
            description: '`person`: people compared the outputs as pairs of a queue.',
          }),
          evaluator: z.string().meta({ description: 'The name of the score if people compared.' }),
          reviews: z.int().optional().meta({
            description: 'The number of answers if people compared. An example counts once, with their mean.',
          }),
          examples: z.int().meta({ description: 'Examples with a preference or a tie.' }),
          preferred: z.int().meta({ description: 'Examples in which the output of b is better.' }),
          other_preferred: z.int().meta({ description: 'Examples in which the output of a is better.' }),
          ties: z.int(),
          share: z.number().meta({ description: 'The mean score, 0–1; 0.5 if neither run is better.' }),
          interval: z.strictObject({ low: z.number(), high: z.number() }).meta({ description: '95 %, of `share`.' }),
          p_value: z.number(),
          verdict: z.enum(PREFERENCE_VERDICTS),
        }),
      )
      .optional()
      .meta({
        description:
          'If `pairwise` evaluators of b compared its outputs with those of a (`against`), or people compared them as pairs of a queue.',
      }),
    unchanged_examples: z.array(ChangedExample).optional().meta({ description: 'With `unchanged=true`.' }),
    metadata_keys: z
      .array(z.string())
      .optional()
      .meta({ description: 'The metadata keys of the first 200 examples of b: possible values of `group_by`.' }),
  })
  .meta({ id: 'EvaluationComparison' }) satisfies z.ZodType<RunComparison>;
