import { z } from 'zod';
import { executionStates } from '../../domain/execution-states.ts';
import { ModelParameters } from '../../domain/parameters.ts';
import { Cost, TokenUsage } from '../../domain/usage.ts';
import {
  BodyVersion,
  idParams,
  Label,
  Metadata,
  ModelName,
  Name,
  Timestamp,
  TimestampInput,
  Variables,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

export const CreateExecution = z
  .strictObject({
    prompt_name: Name,
    variables: Variables.default({}).meta({
      description: 'A value for each placeholder: a string, number, boolean, object or array. Extra ones are ignored.',
    }),
    version: BodyVersion.optional(),
    label: Label.optional(),
    model: ModelName.optional().meta({ description: 'Replaces the model of the prompt.' }),
    parameters: ModelParameters.optional().meta({ description: 'Override those of the prompt, one by one.' }),
    metadata: Metadata.default({}),
  })
  .refine(({ version, label }) => version === undefined || label === undefined, {
    message: 'give either version or label, not both',
    path: ['label'],
  })
  .meta({ id: 'CreateExecution' });

/** How long to wait; parsed by `waitMsOf`. */
export const PreferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({ description: '`wait=N` (0–300 seconds, 60 unless given) or `respond-async`.', example: 'wait=10' }),
});

export const Execution = z
  .object({
    id: z.string().meta({ example: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    status: z.enum(executionStates.states),
    prompt_name: z.string(),
    prompt_version: z.int(),
    model: z.string(),
    provider: z.string(),
    parameters: ModelParameters,
    variables: Variables,
    input: z.string().meta({ description: 'The template with its variables filled in, as it was sent.' }),
    output: z.string().nullable(),
    finish_reason: z.string().nullable(),
    tokens: TokenUsage,
    cost: Cost,
    latency: z.object({
      queue_ms: z.int().nullable().meta({ description: 'From creation to the first call.' }),
      model_ms: z.int().nullable().meta({ description: 'The call that succeeded.' }),
      total_ms: z.int().nullable().meta({ description: 'From creation to the end.' }),
    }),
    attempts: z.int().meta({ description: 'Calls to the model.' }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    metadata: Metadata,
    workflow_id: z.string(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Execution' });

export const ExecutionPage = pageOf(Execution).meta({ id: 'ExecutionPage' });
export const ExecutionParams = idParams('execution');

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  status: z.enum(executionStates.states, `must be one of ${executionStates.states.join(', ')}`).optional(),
  model: ModelName.optional(),
  since: TimestampInput.optional().meta({ description: 'Created at or after this time.' }),
  until: TimestampInput.optional().meta({ description: 'Created before this time.' }),
});
