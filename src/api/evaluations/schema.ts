import { z } from 'zod';
import { BATCH_WAVES, EVALUATION_MODES } from '../../domain/batches/batch-mode.ts';
import { providerBatchStates } from '../../domain/batches/provider-batch-states.ts';
import { EVALUATION_TARGETS } from '../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { CreationTime, idParams, Metadata, Name, Timestamp, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { BatchOptions } from './batch-options.ts';

const Judge = z.object({ tokens: TokenUsage, cost: CostAmount });

const Evaluator = z.looseObject({ type: z.string(), name: z.string(), weight: z.number() });

const ErrorOrNull = z.object({ code: z.string(), message: z.string() }).nullable();

/** A batch of a run's calls at a provider. */
export const ProviderBatch = z
  .object({
    number: z.int().meta({ description: 'From 1.' }),
    id: z.string().meta({
      description: 'What it is tagged with at a provider that has tags.',
      example: 'batch_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
    }),
    wave: z.enum(BATCH_WAVES),
    evaluator: z.string().nullable().meta({ description: 'The judge, of `judgements`.' }),
    provider: z.string(),
    model: z.string(),
    provider_batch_id: z.string().nullable(),
    status: z.enum(providerBatchStates.states).meta({
      description:
        '`unknown`: the provider may have it, and did not say so. It is looked for, and not submitted again unless somebody asks for that.',
    }),
    provider_status: z.string().nullable().meta({ description: 'As the provider calls it.' }),
    items: z.int().meta({ description: 'Calls in it.' }),
    counts: z
      .object({ total: z.int(), succeeded: z.int(), failed: z.int() })
      .nullable()
      .meta({ description: 'By the provider.' }),
    submitted_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().meta({ description: 'When the provider gives up.' }),
    next_poll_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    error: ErrorOrNull,
  })
  .meta({ id: 'ProviderBatch' });

export const Evaluation = z
  .object({
    id: z.string().meta({ example: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    status: z.enum(evaluationStates.states),
    status_reason: z.string().nullable().meta({ description: 'Why it is paused.' }),
    target: z.object({ type: z.enum(EVALUATION_TARGETS), name: z.string() }).meta({
      description: 'What is evaluated: a prompt, or `code` that its caller runs.',
    }),
    prompt_name: z.string().meta({ description: 'The name of the target.' }),
    prompt_version: z.int().meta({ description: '0 for code and for a draft.' }),
    model: z.string().meta({ description: '`code` for code.' }),
    fallback_models: z.array(z.string()).meta({
      description: 'Called in order where the model before has failed for good. Pinned, as all of the version is.',
    }),
    includes: z
      .array(z.object({ name: z.string(), version: z.int() }))
      .meta({ description: 'The prompts that the texts include, at any depth, pinned when the run was created.' }),
    provider: z.string(),
    parameters: ModelParameters,
    dataset: z
      .object({ name: z.string(), version: z.int() })
      .nullable()
      .meta({ description: 'Null for inline examples.' }),
    evaluators: z.array(Evaluator),
    threshold: z.number(),
    example_threshold: z
      .number()
      .nullable()
      .meta({ description: 'From this score on an example counts 1, below it 0. Null: it counts its score.' }),
    baseline_id: z.string().nullable(),
    source_evaluation_id: z.string().nullable().meta({
      description: 'The run whose outputs were scored again, without calling the model.',
    }),
    reuse: z.object({ max_age: z.int() }).nullable(),
    concurrency: z.int(),
    mode: z.enum(EVALUATION_MODES),
    batch: BatchOptions.nullable().meta({ description: 'Null where models are called one by one, also by `auto`.' }),
    batches: z.array(ProviderBatch).optional().meta({ description: 'Omitted in lists and where a run is created.' }),
    savings: CostAmount.optional().meta({ description: 'What batches have saved so far. Omitted as `batches` is.' }),
    max_cost: z.string().nullable(),
    start_at: Timestamp.nullable(),
    metadata: Metadata,
    schedule_id: z.string().nullable(),
    score: z.number().nullable().meta({
      description:
        'Mean over the examples, 0–1. An example that failed counts 0. One that an evaluator could not score counts in no mean; null if no example has a score.',
    }),
    scores_by_evaluator: z
      .record(z.string(), z.number())
      .nullable()
      .meta({ description: 'The same for each evaluator. An evaluator that has scored nothing is left out.' }),
    passed: z.boolean().nullable().meta({
      description: 'Whether the score reaches the threshold; false without a score, null until the run has completed.',
    }),
    examples_total: z.int(),
    examples_evaluated: z.int(),
    examples_failed: z.int(),
    examples_unscored: z.int().optional().meta({
      description: 'Evaluated examples without a score: the answer of a judge or scorer could not be used.',
    }),
    unscored_by_evaluator: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'The number of examples without a score of that evaluator, where there are any.' }),
    failures: FailureCauses.optional().meta({
      description: `Why examples failed, the most frequent cause first; at most ${MAX_FAILURE_CAUSES}. Messages that differ only in numbers or ids are one cause.`,
    }),
    regressions: z.int().nullable(),
    improvements: z.int().nullable(),
    tokens: TokenUsage.meta({ description: 'Model and judges together.' }),
    cost: CostAmount.meta({ description: 'Model and judges together.' }),
    judge: Judge.meta({ description: 'The judges alone.' }),
    latency: z.object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() }),
    progress: z.number().meta({ description: 'Share of the examples that have a result, 0–1.' }),
    retries: z.int(),
    workflow_id: z.string().meta({ description: 'Empty where no workflow runs it, but a program of the caller.' }),
    results_due_at: Timestamp.nullable().meta({
      description: 'Of a run of code: when it fails unless results come before. Null where the service runs it.',
    }),
    error: ErrorOrNull,
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Evaluation' });

export const CreatedEvaluation = Evaluation.extend({
  evaluators: z.array(
    Evaluator.extend({
      secret: z.string().optional().meta({
        description:
          'Of an `http` evaluator in the request: what signs its requests. It is stored encrypted and not shown again.',
      }),
    }),
  ),
}).meta({ id: 'CreatedEvaluation' });

export const EvaluationPage = pageOf(Evaluation).meta({ id: 'EvaluationPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  target: z.enum(EVALUATION_TARGETS, `must be one of ${EVALUATION_TARGETS.join(', ')}`).optional(),
  status: z.enum(evaluationStates.states, `must be one of ${evaluationStates.states.join(', ')}`).optional(),
  dataset: Name.optional(),
  schedule_id: z.string().max(100).optional(),
  ...CreationTime,
});

export const EvaluationParams = idParams('evaluation');
export const ProviderBatchParams = EvaluationParams.extend({
  number: wholeNumber({ min: 1, max: 1_000_000, description: 'Of the batch, from 1.' }),
});
