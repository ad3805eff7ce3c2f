import { z } from 'zod';
import { RESULT_STATUSES } from '../../db/entities/evaluation.ts';
import { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { pathId, saneText, Variables, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional();

/** A bound of a score in a query. */
function scoreBound(description: string) {
  const message = 'must be a number from 0 to 1, such as 0.5';
  return z
    .string()
    .regex(/^\d(\.\d{1,20})?(e-\d{1,2})?$/i, { error: message, abort: true })
    .transform(Number)
    .refine((value) => value <= 1, { message, abort: true })
    .optional()
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: 'number', minimum: 0, maximum: 1, description });
      },
    });
}

export const ResultParams = z.object({
  id: pathId('evaluation'),
  seq: wholeNumber({ min: 0, max: 2_147_483_647, description: 'The `seq` of the result.' }),
});

const Results = z.strictObject({
  ...PageQuery,
  regression: Flag.meta({ description: 'Only examples that got worse.' }),
  improvement: Flag.meta({ description: 'Only examples that got better.' }),
  failed: Flag.meta({ description: 'Only examples that failed: without a response of the model or of a judge.' }),
  example_id: saneText().max(200, 'must be at most 200 characters').optional().meta({
    description: 'Only this example. Several have the same one where they are equal and were given none.',
  }),
  min_score: scoreBound('Only examples that score this or more. One that failed scores 0 when the run has ended.'),
  max_score: scoreBound('Only examples that score this or less. One that failed scores 0 when the run has ended.'),
  evaluator: saneText().max(200, 'must be at most 200 characters').optional().meta({
    description:
      'Whose score `min_score` and `max_score` are about; one that failed has none. Default: the score of the example.',
  }),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all of them, streamed.' }),
});
export const ResultsQuery = Results.refine(({ min_score = 0, max_score = 1 }) => min_score <= max_score, {
  message: 'must be at least min_score',
  path: ['max_score'],
}).refine(({ evaluator, min_score, max_score }) => evaluator === undefined || (min_score ?? max_score) !== undefined, {
  message: 'says whose score is meant: give min_score or max_score, too',
  path: ['evaluator'],
});

export const Result = z
  .object({
    seq: z.int(),
    example_id: z.string(),
    status: z.enum(RESULT_STATUSES),
    variables: Variables,
    expected: AnyJson,
    output: z.string().nullable(),
    tool_calls: z.array(ToolCall).meta({ description: 'The tools that the model asks for. The service runs none.' }),
    model: z.string().nullable().meta({
      description: "The model that responded, or that failed last: the run's, or one of its fallback models.",
    }),
    reused_from: z.string().nullable().meta({
      description: 'The execution or evaluation that paid for the output, where it was reused.',
    }),
    finish_reason: z.string().nullable(),
    score: z.number().nullable(),
    scores: z.record(z.string(), z.object({ score: z.number(), reason: z.string().nullable() })).nullable(),
    baseline_score: z.number().nullable(),
    regression: z.boolean().nullable(),
    improvement: z.boolean().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    attempts: z.int(),
    tokens: TokenUsage,
    cost: CostAmount,
    model_ms: z.int().nullable(),
  })
  .meta({ id: 'EvaluationResult' });

export const ExampleInput = z
  .object({
    input: z
      .union([z.string(), z.array(ChatMessage)])
      .nullable()
      .meta({
        description:
          "The text of a template, which is sent as one user message, or messages. Null where the example's variables don't fill the prompt: nothing was sent.",
      }),
  })
  .meta({ id: 'EvaluationInput' });

export const ResultPage = pageOf(Result).meta({ id: 'EvaluationResultPage' });
