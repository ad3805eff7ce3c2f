import { z } from 'zod';
import { BATCH_WAVES, EVALUATION_MODES } from '../../domain/batches/batch-mode.ts';
import { providerBatchStates } from '../../domain/batches/provider-batch-states.ts';
import { EVALUATION_TARGETS } from '../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { FromExecutions } from '../../domain/evaluations/replay.ts';
import { FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { CreationTime, idParams, Metadata, Name, Timestamp, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { hiding, shown } from '../../http/unread.ts';
import { BatchOptions } from './batch-options.ts';

const Judge = z.object({ tokens: TokenUsage, cost: CostAmount });

const Evaluator = z.looseObject({ type: z.string(), name: z.string(), weight: z.number() });

const ErrorOrNull = z.object({ code: z.string(), message: z.string() }).nullable();

/** A batch of model calls at a provider. */
export const ProviderBatch = z
  .object({
    number: z.int().meta({ description: 'From 1.' }),
    id: z.string().meta({
      description: 'The tag of the batch at providers that support tags.',
      example: 'batch_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
    }),
    wave: z.enum(BATCH_WAVES),
    evaluator: z.string().nullable().meta({ description: 'The name of the judge, if the batch is of `judgements`.' }),
    provider: z.string(),
    model: z.string(),
    provider_batch_id: z.string().nullable(),
    status: z.enum(providerBatchStates.states).meta({
      description:
        '`unknown`: the provider may have the batch but did not confirm it. The service searches for it and resubmits it only on request.',
    }),
    provider_status: z.string().nullable().meta({ description: 'The status as reported by the provider.' }),
    items: z.int().meta({ description: 'The number of calls in the batch.' }),
    counts: z
      .object({ total: z.int(), succeeded: z.int(), failed: z.int() })
      .nullable()
      .meta({ description: 'Reported by the provider.' }),
    submitted_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().meta({ description: 'When the batch expires at the provider.' }),
    next_poll_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    error: ErrorOrNull,
  })
  .meta({ id: 'ProviderBatch' });

/** Fields hidden from keys without `read`; content, and the fields that a newly created run does not have yet. */
export const HIDDEN = [
  'name',
  'parameters',
  'includes',
  'evaluators',
  'from_executions',
  'batches',
  'metadata',
  'score',
  'scores_by_evaluator',
  'passed',
  'regressions',
  'improvements',
  'unscored_by_evaluator',
  'failures',
  'error',
] as const;

export const Evaluation = hiding(
  z
    .object({
      id: shown(z.string().meta({ example: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
      status: shown(z.enum(evaluationStates.states)),
      status_reason: shown(z.string().nullable().meta({ description: 'Why the evaluation is paused.' })),
      name: z.string().nullable().meta({ description: 'The title that a caller gave it.' }),
      target: shown(
        z.object({ type: z.enum(EVALUATION_TARGETS), name: z.string() }).meta({
          description: 'The evaluated target: a prompt, or `code` that the caller runs.',
        }),
      ),
      prompt_name: shown(z.string().meta({ description: 'The name of the target.' })),
      prompt_version: shown(z.int().meta({ description: '0 for code, for a draft and for recorded outputs.' })),
      model: shown(z.string().meta({ description: 'The model of the prompt; `code` if the caller runs code.' })),
      fallback_models: shown(
        z.array(z.string()).meta({
          description:
            'Called in order when the previous model failed permanently. Pinned, like the rest of the version.',
        }),
      ),
      includes: z
        .array(z.object({ name: z.string(), version: z.int() }))
        .meta({ description: 'The prompts that the texts include, at any depth, pinned when the run was created.' }),
      provider: shown(z.string()),
      parameters: ModelParameters,
      dataset: shown(
        z.object({ name: z.string(), version: z.int() }).nullable().meta({ description: 'Null for inline examples.' }),
      ),
      evaluators: z.array(Evaluator),
      threshold: shown(z.number()),
      example_threshold: shown(
        z.number().nullable().meta({
          description:
            'An example with at least this score counts as 1, any other as 0. If null, each example counts as its score.',
        }),
      ),
      baseline_id: shown(z.string().nullable()),
      source_evaluation_id: shown(
        z.string().nullable().meta({
          description: 'The run whose outputs were rescored without calling the model.',
        }),
      ),
      from_executions: FromExecutions.extend({
        recorded: z
          .boolean()
          .meta({ description: 'Whether the recorded outputs are scored, without calling the model.' }),
      })
        .optional()
        .meta({ description: 'The executions that the examples were made from, if there are any.' }),
      reuse: shown(z.object({ max_age: z.int() }).nullable()),
      concurrency: shown(z.int()),
      mode: shown(z.enum(EVALUATION_MODES)),
      batch: shown(
        BatchOptions.nullable().meta({
          description: 'Null if models are called one by one, also when `auto` chose that.',
        }),
      ),
      batches: z.array(ProviderBatch).optional().meta({ description: 'Omitted in lists and when a run is created.' }),
      savings: shown(
        CostAmount.optional().meta({ description: 'The savings by batches so far. Omitted when `batches` is.' }),
      ),
      max_cost: shown(z.string().nullable()),
      start_at: shown(Timestamp.nullable()),
      metadata: Metadata,
      schedule_id: shown(z.string().nullable()),
      improvement_id: shown(z.string().nullable().meta({ description: 'The improvement that started it.' })),
      score: z.number().nullable().meta({
        description:
          'Mean over the examples, 0–1. An example that failed counts 0. An example that an evaluator could not score is left out of every mean; null if no example has a score.',
      }),
      scores_by_evaluator: z
        .record(z.string(), z.number())
        .nullable()
        .meta({ description: 'The same for each evaluator. An evaluator that has scored nothing is left out.' }),
      passed: z.boolean().nullable().meta({
        description:
          'Whether the score reaches the threshold; false without a score, null until the run has completed.',
      }),
      examples_total: shown(z.int()),
      examples_evaluated: shown(z.int()),
      examples_failed: shown(z.int()),
      examples_unscored: shown(
        z.int().optional().meta({
          description: 'Evaluated examples without a score: the answer of a judge or scorer could not be used.',
        }),
      ),
      unscored_by_evaluator: z
        .record(z.string(), z.int())
        .optional()
        .meta({ description: 'The number of examples without a score of that evaluator, if there are any.' }),
      failures: FailureCauses.optional().meta({
        description: `Why examples failed, the most frequent cause first; at most ${MAX_FAILURE_CAUSES}. Messages that differ only in numbers or ids are one cause.`,
      }),
      regressions: z.int().nullable(),
      improvements: z.int().nullable(),
      tokens: shown(TokenUsage.meta({ description: 'The model and the judges combined.' })),
      tokens_unknown_calls: shown(
        z.int().optional().meta({
          description:
            'The number of calls whose usage is unknown because the provider has not reported it: `tokens` and `judge` leave them out.',
        }),
      ),
      cost: shown(CostAmount.meta({ description: 'The model and the judges combined.' })),
      judge: shown(Judge.meta({ description: 'The judges only.' })),
      latency: shown(z.object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() })),
      progress: shown(z.number().meta({ description: 'Share of the examples that have a result, 0–1.' })),
      retries: shown(z.int()),
      workflow_id: shown(
        z.string().meta({ description: 'Empty if a program of the caller runs the evaluation instead of a workflow.' }),
      ),
      results_due_at: shown(
        Timestamp.nullable().meta({
          description: 'For code evaluations: when the run fails unless results arrive. Null if the service runs it.',
        }),
      ),
      error: ErrorOrNull,
      created_at: shown(Timestamp),
      started_at: shown(Timestamp.nullable()),
      finished_at: shown(Timestamp.nullable()),
    })
    .meta({ id: 'Evaluation' }),
  HIDDEN,
);

export const CreatedEvaluation = hiding(
  Evaluation.extend({
    evaluators: z.array(
      Evaluator.extend({
        secret: z.string().optional().meta({
          description:
            'The signing secret of an `http` evaluator in the request. It is stored encrypted and not shown again.',
        }),
      }),
    ),
  }).meta({ id: 'CreatedEvaluation' }),
  ['parameters'],
);

export const EvaluationPage = pageOf(Evaluation).meta({ id: 'EvaluationPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  target: z.enum(EVALUATION_TARGETS, `must be one of ${EVALUATION_TARGETS.join(', ')}`).optional(),
  status: z.enum(evaluationStates.states, `must be one of ${evaluationStates.states.join(', ')}`).optional(),
  dataset: Name.optional(),
  schedule_id: z.string().max(100).optional(),
  improvement_id: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'The evaluations of an improvement, which other lists leave out.' }),
  ...CreationTime,
});

export const EvaluationParams = idParams('evaluation');
export const ProviderBatchParams = EvaluationParams.extend({
  number: wholeNumber({ min: 1, max: 1_000_000, description: 'The number of the batch, from 1.' }),
});
