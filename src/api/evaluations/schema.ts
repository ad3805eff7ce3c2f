import { z } from 'zod';
import { RESULT_STATUSES } from '../../db/entities/evaluation.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { Example } from '../../domain/example.ts';
import { ModelParameters } from '../../domain/parameters.ts';
import { Cost, TokenUsage } from '../../domain/usage.ts';
import { EvaluatorsSchema } from '../../evaluators/registry.ts';
import {
  BodyVersion,
  idParams,
  Label,
  Metadata,
  Name,
  pathId,
  Timestamp,
  TimestampInput,
  Variables,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

export const MAX_INLINE_EXAMPLES = 1_000;

/** US dollars: a number, or a decimal string for those who keep money out of floats. */
export const MaxCost = z
  .union([z.number(), z.string().regex(/^\d{1,9}(\.\d{1,12})?$/)], 'must be US dollars: a number or a decimal string')
  .refine((cost) => Number(cost) > 0 && Number(cost) < 1e9, 'must be more than 0 and less than 1,000,000,000')
  .transform((cost) => (typeof cost === 'number' ? String(Number(cost.toFixed(12))) : cost))
  .refine((cost) => /^\d+(\.\d+)?$/.test(cost) && Number(cost) > 0, 'must be at least 0.000001')
  .meta({
    description: 'US dollars that the run may cost, judges included; it pauses when they are used up.',
    example: 2.5,
  });

const DatasetReference = z
  .union([
    Name,
    z.strictObject({ name: Name, version: BodyVersion.optional().meta({ description: 'The latest unless given.' }) }),
  ])
  .transform((dataset) => (typeof dataset === 'string' ? { name: dataset, version: undefined } : dataset))
  .meta({ description: 'A dataset by name, or `{"name", "version"}`.', example: 'support/questions' });

const evaluationFields = {
  prompt_name: Name,
  version: BodyVersion.optional(),
  label: Label.optional(),
  dataset: DatasetReference.optional(),
  examples: z
    .array(Example)
    .min(1, 'must have at least one example')
    .max(MAX_INLINE_EXAMPLES, `must have at most ${MAX_INLINE_EXAMPLES} examples; upload a dataset for more`)
    .optional(),
  evaluators: EvaluatorsSchema,
  threshold: z.number().min(0).max(1).default(0.8).meta({ description: 'The run passes from this score on.' }),
  baseline: z
    .union(
      [z.literal('previous'), z.string().regex(/^eval_[0-9a-f-]{36}$/), z.null()],
      'must be "previous", an evaluation\'s id or null',
    )
    .default('previous')
    .meta({
      description:
        'What regressions are counted against: the newest completed run of this prompt over the same examples, a given one, or none.',
    }),
  concurrency: z.int().min(1).max(200).default(20).meta({ description: 'Examples at a time.' }),
  max_cost: MaxCost.optional().meta({
    description:
      'US dollars, judges included. A call whose cost comes back unknown counts as what was set aside for it. The run pauses when too little is left for another example.',
  }),
  metadata: Metadata.default({}),
};

type Fields = { version?: unknown; label?: unknown; dataset?: unknown; examples?: unknown };

/** Rules between fields, the same for evaluations and schedules. */
export function checkTogether(fields: Fields, context: z.RefinementCtx): void {
  if (fields.version !== undefined && fields.label !== undefined)
    context.addIssue({ code: 'custom', path: ['label'], message: 'give either version or label, not both' });
  if ((fields.dataset === undefined) === (fields.examples === undefined))
    context.addIssue({ code: 'custom', path: ['dataset'], message: 'give exactly one of dataset and examples' });
}

export const CreateEvaluation = z
  .strictObject({
    ...evaluationFields,
    start_at: TimestampInput.optional().meta({ description: 'When to begin; at once unless given.' }),
  })
  .superRefine(checkTogether)
  .meta({ id: 'CreateEvaluation' });

/** What a schedule runs each time it is due. */
export const ScheduledEvaluation = z
  .strictObject(evaluationFields)
  .superRefine(checkTogether)
  .meta({ id: 'ScheduledEvaluation' });

const Judge = z.object({ tokens: TokenUsage, cost: Cost.pick({ amount: true, currency: true }) });

export const Evaluation = z
  .object({
    id: z.string().meta({ example: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    status: z.enum(evaluationStates.states),
    status_reason: z.string().nullable().meta({ description: 'Why it is paused.' }),
    prompt_name: z.string(),
    prompt_version: z.int(),
    model: z.string(),
    provider: z.string(),
    parameters: ModelParameters,
    dataset: z
      .object({ name: z.string(), version: z.int() })
      .nullable()
      .meta({ description: 'Null for inline examples.' }),
    evaluators: z.array(z.looseObject({ type: z.string(), name: z.string(), weight: z.number() })),
    threshold: z.number(),
    baseline_id: z.string().nullable(),
    concurrency: z.int(),
    max_cost: z.string().nullable(),
    start_at: Timestamp.nullable(),
    metadata: Metadata,
    schedule_id: z.string().nullable(),
    score: z.number().nullable().meta({ description: 'Mean over the examples, 0–1; one that failed counts 0.' }),
    scores_by_evaluator: z.record(z.string(), z.number()).nullable(),
    passed: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the score reaches the threshold; null until it has ended.' }),
    examples_total: z.int(),
    examples_evaluated: z.int(),
    examples_failed: z.int(),
    regressions: z.int().nullable(),
    improvements: z.int().nullable(),
    tokens: TokenUsage.meta({ description: 'Model and judges together.' }),
    cost: Cost.pick({ amount: true, currency: true }).meta({ description: 'Model and judges together.' }),
    judge: Judge.meta({ description: 'The judges alone.' }),
    latency: z.object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() }),
    progress: z.number().meta({ description: 'Share of the examples that have a result, 0–1.' }),
    retries: z.int(),
    workflow_id: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Evaluation' });

export const EvaluationPage = pageOf(Evaluation).meta({ id: 'EvaluationPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  status: z.enum(evaluationStates.states, `must be one of ${evaluationStates.states.join(', ')}`).optional(),
  dataset: Name.optional(),
  schedule_id: z.string().max(100).optional(),
  since: TimestampInput.optional().meta({ description: 'Created at or after this time.' }),
  until: TimestampInput.optional().meta({ description: 'Created before this time.' }),
});

export const ResumeEvaluation = z
  .strictObject({ max_cost: MaxCost.nullable().optional().meta({ description: 'A higher cap, or null for none.' }) })
  .meta({ id: 'ResumeEvaluation' });

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional();

export const ResultsQuery = z.strictObject({
  ...PageQuery,
  regression: Flag.meta({ description: 'Only examples that got worse.' }),
  improvement: Flag.meta({ description: 'Only examples that got better.' }),
  failed: Flag.meta({ description: 'Only examples without an answer or a judgement.' }),
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
export const EvaluationParams = idParams('evaluation');
export const CompareParams = z.object({ id: pathId('evaluation'), other: pathId('evaluation') });
