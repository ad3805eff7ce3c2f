import { z } from 'zod';
import { EVALUATION_MODES } from '../../domain/batches/batch-mode.ts';
import { Example } from '../../domain/evaluations/example.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { Label } from '../../domain/prompts/label.ts';
import { EvaluatorsSchema, GivenEvaluators } from '../../evaluators/registry.ts';
import { BodyVersion, Metadata, Name, storableString, TimestampInput, TraceIdInput } from '../../http/fields.ts';
import { ExecutionFilterBody } from '../executions/filter-schema.ts';
import { CreateExecution, Draft } from '../executions/schema.ts';
import { BatchOptions, checkMode } from './batch-options.ts';

const MAX_INLINE_EXAMPLES = 1_000;

/** US dollars: a number, or a decimal string for callers that avoid floats for money. */
export const MaxCost = z
  .union([z.number(), z.string().regex(/^\d{1,9}(\.\d{1,12})?$/)], 'must be US dollars: a number or a decimal string')
  .refine((cost) => Number(cost) > 0 && Number(cost) < 1e9, 'must be more than 0 and less than 1,000,000,000')
  .transform((cost) => (typeof cost === 'number' ? String(Number(cost.toFixed(12))) : cost))
  .refine((cost) => /^\d+(\.\d+)?$/.test(cost) && Number(cost) > 0, 'must be at least 0.000001')
  .meta({
    description: 'The maximum cost of the run in US dollars, including judges. The run pauses when it is used up.',
    example: 2.5,
  });

export const DatasetReference = z
  .union([
    Name,
    z.strictObject({ name: Name, version: BodyVersion.optional().meta({ description: 'Default: the latest.' }) }),
  ])
  .transform((dataset) => (typeof dataset === 'string' ? { name: dataset, version: undefined } : dataset))
  .meta({ description: 'A dataset by name, or `{"name", "version"}`.', example: 'support/questions' });

export const evaluationFields = {
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
  threshold: z.number().min(0).max(1).default(0.8).meta({ description: 'The minimum score for the run to pass.' }),
  example_threshold: z.number().min(0).max(1).optional().meta({
    description:
      'An example with at least this score counts as 1, any other as 0. Default: each example counts as its score.',
  }),
  baseline: z
    .union(
      [z.literal('previous'), z.string().regex(/^eval_[0-9a-f-]{36}$/), z.null()],
      'must be "previous", an evaluation\'s id or null',
    )
    .default('previous')
    .meta({
      description:
        'The baseline for regressions: the newest completed run of this prompt over the same examples, a given run, or none. ' +
        'With `executions`, `previous` is a run of their recorded outputs.',
    }),
  mode: z
    .enum(EVALUATION_MODES, `must be one of ${EVALUATION_MODES.join(', ')}`)
    .default('interactive')
    .meta({
      description:
        '`batch`: calls models through the batch APIs of their providers, which cost less and respond within hours; a model without one is a 400. ' +
        '`auto`: uses `batch` if all models of the run support it, otherwise `interactive`.',
    }),
  batch: BatchOptions.optional(),
  concurrency: z.int().min(1).max(200).default(20).meta({ description: 'The number of examples run at a time.' }),
  max_cost: MaxCost.optional().meta({
    description:
      'US dollars, including judges. A call of unknown cost counts as the amount reserved for it. The run pauses when too little is left for another example.',
  }),
  reuse: CreateExecution.shape.reuse.meta({
    description:
      'If this workspace made the same call (model, input, parameters, tools) for an evaluation or execution within that ' +
      'time, its response is reused at no cost.',
  }),
  metadata: Metadata.default({}),
};

/** The maximum number of executions that a run can be made from. */
const MAX_EXECUTIONS = 1_000;
const EXECUTIONS_FORM = `must be a whole number from 1 to ${MAX_EXECUTIONS}`;

export const EvaluatedExecutions = z
  .strictObject({
    ...ExecutionFilterBody.shape,
    prompt_name: Name.nullable().optional().meta({
      description:
        'Only executions of this prompt; null: of any prompt, or of none. Default: the evaluated prompt, or null with `execution_ids` or `trace_id`.',
    }),
    status: z
      .enum(executionStates.states, `must be one of ${executionStates.states.join(', ')}`)
      .default('completed')
      .meta({ description: 'Only executions in this state.' }),
    trace_id: TraceIdInput.optional().meta({ description: 'Only the model calls of this trace.' }),
    execution_ids: z
      .array(z.string().max(100), 'must be an array of ids')
      .min(1, 'must not be empty')
      .max(MAX_EXECUTIONS, `must be at most ${MAX_EXECUTIONS} ids`)
      .optional()
      .meta({ description: 'Only these executions; all must match the other fields.' }),
    limit: z
      .int(EXECUTIONS_FORM)
      .min(1, EXECUTIONS_FORM)
      .max(MAX_EXECUTIONS, EXECUTIONS_FORM)
      .default(100)
      .meta({ description: 'If more executions match, the newest are used. All `execution_ids` are used anyway.' }),
    expected: z
      .enum(['output', 'none'], 'must be output or none')
      .default('none')
      .meta({ description: 'The expected value of the examples: the recorded output, or none.' }),
  })
  .meta({
    id: 'EvaluatedExecutions',
    description:
      'Executions to run again with this version, instead of examples: what would it have said? A version that fits the recorded variables is filled with ' +
      'them, and messages that the caller added follow. Otherwise, as for calls recorded from traces, its leading system messages replace the recorded ones. ' +
      'The recorded outputs are scored by the same evaluators in a second run, which is the baseline unless `baseline` says otherwise. ' +
      'Requires the scope `read`, too.',
  });

type Fields = Parameters<typeof checkMode>[0] & {
  version?: unknown;
  label?: unknown;
  dataset?: unknown;
  examples?: unknown;
  executions?: unknown;
};

/** Requires exactly one source of examples. */
export function checkExamples(
  { dataset, examples, executions }: Pick<Fields, 'dataset' | 'examples' | 'executions'>,
  context: z.RefinementCtx,
  sources = 'dataset and examples',
): void {
  if ([dataset, examples, executions].filter((source) => source !== undefined).length !== 1)
    context.addIssue({ code: 'custom', path: ['dataset'], message: `give exactly one of ${sources}` });
}

/** Cross-field rules shared by evaluations and schedules. */
function checkTogether(fields: Fields, context: z.RefinementCtx, sources?: string): void {
  if (fields.version !== undefined && fields.label !== undefined)
    context.addIssue({ code: 'custom', path: ['label'], message: 'give either version or label, not both' });
  checkExamples(fields, context, sources);
  checkMode(fields, context);
}

const RunName = storableString().trim().min(1, 'must not be empty').max(200, 'must be at most 200 characters').meta({
  description: 'A title for people, such as what was tried. It need not be unique.',
  example: 'Shorter answers',
});

export const CreateEvaluation = z
  .strictObject({
    name: RunName.optional(),
    ...evaluationFields,
    executions: EvaluatedExecutions.optional(),
    draft: Draft.optional(),
    start_at: TimestampInput.optional().meta({ description: 'When to start. Default: immediately.' }),
  })
  .superRefine((fields, context) => checkTogether(fields, context, 'dataset, examples and executions'))
  .meta({ id: 'CreateEvaluation' });

/** What a schedule runs each time it is due. */
export const ScheduledEvaluation = z
  .strictObject(evaluationFields)
  .superRefine((fields, context) => checkTogether(fields, context))
  .meta({ id: 'ScheduledEvaluation' });

export const UpdateEvaluation = z
  .strictObject({ name: RunName.nullable().meta({ description: 'Null removes the name.' }) })
  .meta({ id: 'UpdateEvaluation' });

export const RescoreEvaluation = z
  .strictObject({
    evaluators: GivenEvaluators.optional().meta({ description: 'Default: those of the source run.' }),
    threshold: evaluationFields.threshold
      .unwrap()
      .optional()
      .meta({ description: 'Default: the threshold of the source run.' }),
    max_cost: MaxCost.optional().meta({ description: 'The maximum cost of the judges in US dollars.' }),
    mode: evaluationFields.mode.meta({ description: 'How the judges are called, as for a new evaluation.' }),
    batch: BatchOptions.optional(),
  })
  .superRefine(checkMode)
  .meta({ id: 'RescoreEvaluation' });

export const ResumeEvaluation = z
  .strictObject({
    max_cost: MaxCost.nullable().optional().meta({ description: 'A higher limit, or null for no limit.' }),
  })
  .meta({ id: 'ResumeEvaluation' });
