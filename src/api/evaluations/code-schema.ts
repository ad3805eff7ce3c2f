import { z } from 'zod';
import { AnyJson } from '../../domain/text/json-object.ts';
import { EvaluatorName, Weight } from '../../evaluators/fields.ts';
import { Metadata, Name, saneText, Variables } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { checkExamples, evaluationFields } from './create-schema.ts';

const MAX_SCORES = 10;
export const MAX_RESULTS_AT_ONCE = 500;
const MAX_REASON = 500;
const MAX_MESSAGE = 2_000;

const { dataset, examples, threshold, baseline } = evaluationFields;

export const CreateCodeEvaluation = z
  .strictObject({
    name: Name.meta({
      description: 'Of what is evaluated: the runs of one name are compared.',
      example: 'support/agent',
    }),
    dataset,
    examples,
    scores: z
      .array(z.strictObject({ name: EvaluatorName, weight: Weight }))
      .min(1, 'must have at least one score')
      .max(MAX_SCORES, `must have at most ${MAX_SCORES} scores`)
      .refine(
        (scores) => new Set(scores.map(({ name }) => name)).size === scores.length,
        'must have names of their own',
      )
      .meta({ description: 'What each result is scored by. The score of an example is their weighted mean.' }),
    threshold,
    baseline: baseline.meta({
      description:
        'What regressions are counted against: the newest completed run of this name over the same examples, a given one, or none.',
    }),
    metadata: Metadata.default({}),
    resume: z.boolean().default(false).meta({
      description:
        'Whether to go on with the newest run of this name that is `running`, has equal examples and the same scores, if there is one.',
    }),
  })
  .superRefine(checkExamples)
  .meta({ id: 'CreateCodeEvaluation' });

export const OpenExamplesQuery = z.strictObject(PageQuery);

export const OpenExample = z
  .object({
    seq: z.int().meta({ description: 'Its place among the examples, from 0.' }),
    example_id: z.string(),
    variables: Variables,
    expected: AnyJson.optional().meta({ override: { description: 'Absent where nothing is expected.' } }),
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
        reason: saneText().max(MAX_REASON, `must be at most ${MAX_REASON} characters`).nullable().default(null),
      }),
    ],
    'must be a number from 0 to 1, or {"score", "reason"}',
  )
  .transform((given) => (typeof given === 'number' ? { score: given, reason: null } : given))
  .meta({ description: 'From 0 to 1, where it has one with its reason.' });

export const CodeResult = z
  .strictObject({
    seq: z.int().min(0).max(2_147_483_647).meta({ description: 'Of the example.' }),
    output: z.string().nullable().optional().meta({ description: 'A text; JSON as its text.' }),
    scores: z
      .record(EvaluatorName, GivenScore)
      .optional()
      .meta({
        description: 'By name: all scores of the evaluation. Absent where the example has failed.',
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
        description: 'Why it has failed. In place of `scores`.',
        example: { code: 'task_failed', message: 'Timed out.' },
      }),
    duration_ms: z.int().min(0).max(2_147_483_647).optional().meta({ description: 'How long the output took.' }),
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
            context.addIssue({ code: 'custom', path: [index, 'seq'], message: 'is in this request before' });
          seen.add(seq);
        }
      }),
  })
  .meta({ id: 'StoreCodeResults' });

export const StoredCodeResults = z
  .object({
    stored: z.int().meta({ description: 'How many are new.' }),
    known: z.int().meta({ description: 'How many examples had a result already, which stays.' }),
  })
  .meta({ id: 'StoredCodeResults' });
