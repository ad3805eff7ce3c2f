import { z } from 'zod';
import { AnyJson } from '../../domain/text/json-object.ts';
import { EvaluatorName, Weight } from '../../evaluators/fields.ts';
import { Metadata, Name, storableString, Variables } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { checkExamples, evaluationFields } from './create-schema.ts';

const MAX_SCORES = 10;
export const MAX_RESULTS_AT_ONCE = 500;
const MAX_REASON = 500;
const MAX_MESSAGE = 2_000;

const { dataset, examples, threshold, baseline } = evaluationFields;

export const CreateCodeEvaluation = z
  .strictObject({
    name: Name.meta({
      description: 'The name of the evaluated code. Runs with the same name are compared.',
      example: 'support/agent',
    }),
    dataset,
    examples,
    scores: z
      .array(z.strictObject({ name: EvaluatorName, weight: Weight }))
      .min(1, 'must have at least one score')
      .max(MAX_SCORES, `must have at most ${MAX_SCORES} scores`)
      .refine((scores) => new Set(scores.map(({ name }) => name)).size === scores.length, 'must have unique names')
      .meta({ description: 'The scores of each result. The score of an example is their weighted mean.' }),
    threshold,
    baseline: baseline.meta({
      description:
        'The baseline for regressions: the newest completed run with this name over the same examples, a given run, or none.',
    }),
    metadata: Metadata.default({}),
    resume: z.boolean().default(false).meta({
      description:
        'Whether to continue the newest `running` run with this name, the same examples and the same scores, if there is one.',
    }),
  })
  .superRefine(checkExamples)
  .meta({ id: 'CreateCodeEvaluation' });

export const OpenExamplesQuery = z.strictObject(PageQuery);

export const OpenExample = z
  .object({
    seq: z.int().meta({ description: 'The position of the example, from 0.' }),
    example_id: z.string(),
    variables: Variables,
    expected: AnyJson.optional().meta({ override: { description: 'Absent if there is no expected value.' } }),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'OpenExample' });

export const OpenExamplePage = pageOf(OpenExample).meta({ id: 'OpenExamplePage' });

const GivenScore = z
  .union(
    [
      z.number().min(0).max(1),
      z.strictObject({
        score: z.number().min(0).max(1),
        reason: storableString().max(MAX_REASON, `must be at most ${MAX_REASON} characters`).nullable().default(null),
      }),
    ],
    'must be a number from 0 to 1, or {"score", "reason"}',
  )
  .transform((given) => (typeof given === 'number' ? { score: given, reason: null } : given))
  .meta({ description: 'From 0 to 1, optionally with a reason.' });

export const CodeResult = z
  .strictObject({
    seq: z.int().min(0).max(2_147_483_647).meta({ description: 'The position of the example, from 0.' }),
    output: z.string().nullable().optional().meta({ description: 'The output as text; JSON output as JSON text.' }),
    scores: z
      .record(EvaluatorName, GivenScore)
      .optional()
      .meta({
        description: 'All scores of the evaluation, by name. Absent if the example failed.',
        example: { correct: 1, polite: { score: 0.5, reason: 'No greeting.' } },
      }),
    error: z
      .strictObject({
        code: z
          .string()
          .regex(
            /^[a-z][a-z0-9_]{0,63}$/,
            'must be up to 64 lower-case letters, digits or "_", beginning with a letter',
          ),
        message: z.string().max(MAX_MESSAGE, `must be at most ${MAX_MESSAGE} characters`),
      })
      .optional()
      .meta({
        description: 'Why the example failed. Replaces `scores`.',
        example: { code: 'task_failed', message: 'Timed out.' },
      }),
    duration_ms: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .optional()
      .meta({ description: 'The time taken to produce the output.' }),
  })
  .refine(({ scores, error }) => (scores === undefined) !== (error === undefined), {
    path: ['scores'],
    error: 'give exactly one of scores and error',
  })
  .meta({ id: 'CodeResult' });

export const StoreCodeResults = z
  .strictObject({
    results: z
      .array(CodeResult)
      .min(1, 'must have at least one result')
      .max(MAX_RESULTS_AT_ONCE, `must have at most ${MAX_RESULTS_AT_ONCE} results`)
      .superRefine((results, context) => {
        const seen = new Set<number>();
        for (const [index, { seq }] of results.entries()) {
          if (seen.has(seq))
            context.addIssue({
              code: 'custom',
              path: [index, 'seq'],
              message: 'appears more than once in this request',
            });
          seen.add(seq);
        }
      }),
  })
  .meta({ id: 'StoreCodeResults' });

export const StoredCodeResults = z
  .object({
    stored: shown(z.int().meta({ description: 'The number of new results.' })),
    known: shown(z.int().meta({ description: 'The number of examples that already had a result, which is kept.' })),
  })
  .meta({ id: 'StoredCodeResults' });
