import { z } from 'zod';
import { RESULT_STATUSES } from '../../db/entities/evaluation.ts';
import { ToolCall } from '../../domain/messages.ts';
import { Cost, TokenUsage } from '../../domain/usage.ts';
import { Variables } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional();

export const ResultsQuery = z.strictObject({
  ...PageQuery,
  regression: Flag.meta({ description: 'Only examples that got worse.' }),
  improvement: Flag.meta({ description: 'Only examples that got better.' }),
  failed: Flag.meta({ description: 'Only examples that failed: without a response of the model or of a judge.' }),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .default('json')
    .meta({ description: '`csv`: all of them, streamed.' }),
});

export const Result = z
  .object({
    seq: z.int(),
    example_id: z.string(),
    status: z.enum(RESULT_STATUSES),
    variables: Variables,
    expected: z.json(),
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
    cost: Cost.pick({ amount: true, currency: true }),
    model_ms: z.int().nullable(),
  })
  .meta({ id: 'EvaluationResult' });

export const ResultPage = pageOf(Result).meta({ id: 'EvaluationResultPage' });
