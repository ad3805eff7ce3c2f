import { z } from 'zod';
import { executionStates } from '../../domain/execution-states.ts';
import { FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';
import { Label } from '../../domain/prompts/label.ts';
import { ChatMessage, ChatMessages, ToolCall } from '../../domain/prompts/messages.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';
import { hasAtMostOne, ModelName, NOT_BOTH } from '../../domain/prompts/prompt-version.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { STEP_TYPES } from '../../domain/traces/step.ts';
import { Cost, CostAmount, TokenUsage } from '../../domain/usage.ts';
import {
  BodyVersion,
  growing,
  idParams,
  Metadata,
  Name,
  RolloutKey,
  Timestamp,
  Variables,
  Warnings,
} from '../../http/fields.ts';
import { PageQuery, pageOf, sortField } from '../../http/pagination.ts';
import { shown, unread } from '../../http/unread.ts';
import { MAX_FACET_VALUES } from '../../services/executions/facets.ts';
import { EXECUTION_SORTS, SORTED_EXECUTIONS } from '../../services/executions/sorted-executions.ts';
import { SHOWN_SCORES } from '../../services/scores/scores.ts';
import { Delivery } from '../deliveries/schema.ts';
import { draftFields } from '../prompts/schema.ts';
import { Score } from '../scores/schema.ts';
import { executionFilterQuery } from './filter-schema.ts';

/** Content to run instead of a stored version. */
export const Draft = z
  .strictObject({
    ...draftFields,
    model: ModelName.optional().meta({ description: 'Required without a prompt.' }),
  })
  .refine(hasAtMostOne, { ...NOT_BOTH })
  .meta({
    id: 'ExecutionDraft',
    description:
      'Runs content that is not stored as a version. If the prompt exists, it changes the version as `PUT /prompts/{name}` would: a field ' +
      'that is left out keeps its value. Otherwise it needs a template or messages, and a model.',
  });

/** In seconds: one year. */
const MAX_REUSE_AGE = 366 * 24 * 60 * 60;

export const CreateExecution = z
  .strictObject({
    prompt_name: Name.optional().meta({ description: 'Required unless there is a draft.' }),
    variables: Variables.default({}).meta({
      description: 'A value for each placeholder: a string, number, boolean, object or array. Extra ones are ignored.',
    }),
    version: BodyVersion.optional(),
    label: Label.optional(),
    draft: Draft.optional(),
    model: ModelName.optional().meta({ description: 'Replaces the model of the prompt. Its fallback models stay.' }),
    parameters: ModelParameters.optional().meta({ description: 'Overrides individual parameters of the prompt.' }),
    messages: ChatMessages.optional().meta({ description: "Appended to the prompt's own messages." }),
    reuse: z
      .strictObject({
        max_age: z
          .int('must be a whole number of seconds')
          .min(1, 'must be at least 1')
          .max(MAX_REUSE_AGE, `must be at most ${MAX_REUSE_AGE}`)
          .meta({ description: 'The maximum age of the response in seconds.', example: 3600 }),
      })
      .optional()
      .meta({
        description:
          'If this workspace completed the same call (model, input, parameters, tools) within that time, its response is returned immediately.',
      }),
    rollout_key: RolloutKey.optional(),
    metadata: Metadata.default({}),
  })
  .refine(({ version, label }) => version === undefined || label === undefined, {
    message: 'give either version or label, not both',
    path: ['label'],
  })
  .refine(({ prompt_name, draft }) => prompt_name !== undefined || draft !== undefined, {
    message: 'is required, unless there is a draft',
    path: ['prompt_name'],
  })
  .check(({ value, issues }) => {
    for (const selector of ['version', 'label'] as const)
      if (value.prompt_name === undefined && value[selector] !== undefined)
        issues.push({ code: 'custom', message: 'needs a prompt_name', path: [selector], input: value });
  })
  .meta({ id: 'CreateExecution' });

/** How long to wait; parsed by `waitMsOf`. */
export const PreferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({ description: '`wait=N` (0–300 seconds, default 60) or `respond-async`.', example: 'wait=10' }),
});

const ExecutionError = z.object({ code: z.string(), message: z.string() }).meta({ id: 'ExecutionError' });

const ExecutionCall = z
  .object({
    model: z.string(),
    started_at: Timestamp,
    duration_ms: z.int().nullable().meta({ description: 'Null while the call is in flight, and if its worker died.' }),
    tokens: TokenUsage.nullable().meta({ description: 'As billed; null if unknown.' }),
    cost: CostAmount,
    error: ExecutionError.nullable(),
    skipped: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Kinds of parts and events of the response that the service does not know. They were left out.',
        example: ['part audio'],
      }),
    response: z.string().optional().meta({
      description: 'The first 65,536 characters of a response that was not understood.',
    }),
    warnings: Warnings.optional().meta({
      description: 'Parts of the request that were changed or left out because the provider does not support them.',
    }),
  })
  .meta({ id: 'ExecutionCall' });

export const Execution = z
  .object({
    id: shown(z.string().meta({ example: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    status: shown(z.enum(executionStates.states)),
    prompt_name: shown(z.string().nullable().meta({ description: 'Null for a draft that was run on its own.' })),
    prompt_version: shown(z.int().nullable().meta({ description: 'Null for a draft.' })),
    model: shown(z.string().meta({ description: 'The model that responded or is being called.' })),
    requested_model: shown(z.string().meta({ description: 'The model that was called first.' })),
    provider: shown(z.string()),
    parameters: ModelParameters,
    variables: unread(Variables, {}),
    input: z.union([z.string(), z.array(ChatMessage)]).meta({
      description: 'The input sent to the model: the filled template or the list of messages.',
    }),
    tools: z.array(Tool).nullable(),
    tool_choice: ToolChoice.nullable(),
    includes: z
      .array(z.object({ name: z.string(), version: z.int() }))
      .meta({ description: 'The prompts that the texts include, at any depth.' }),
    output: z.string().nullable(),
    output_json: AnyJson.nullable().meta({
      override: {
        description: '`output` as parsed JSON if a JSON format was requested and the model complied; otherwise null.',
      },
    }),
    tool_calls: z
      .array(ToolCall)
      .meta({ description: 'The tool calls that the model requested. The service never runs tools.' }),
    finish_reason: shown(z.string().nullable()),
    tokens: shown(TokenUsage),
    tokens_unknown: shown(
      z.boolean().optional().meta({
        description:
          'True if the usage of a response is unknown: `tokens` leaves that call out, and its entry in `calls` is null. The cost is null, too, unless the application that recorded the run passed one.',
      }),
    ),
    cost: shown(Cost),
    latency: shown(
      z.object({
        queue_ms: z.int().nullable().meta({ description: 'From creation to the first call.' }),
        model_ms: z.int().nullable().meta({ description: 'The duration of the successful call.' }),
        total_ms: z.int().nullable().meta({ description: 'From creation to the end.' }),
      }),
    ),
    attempts: shown(z.int().meta({ description: 'Calls to models.' })),
    calls: z.array(ExecutionCall).meta({
      description: 'Every call in order, including failed ones. Their costs add up to the cost of the execution.',
    }),
    reused_from: shown(
      z.string().nullable().meta({
        description: 'The execution whose response was reused. No model was called.',
      }),
    ),
    error: ExecutionError.nullable(),
    label: shown(z.string().nullable().meta({ description: 'The label that the request named, if any.' })),
    release: shown(
      z
        .object({
          id: z.string().meta({ example: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
          arm: z.enum(ARMS),
          keyed: z
            .boolean()
            .meta({ description: 'Whether the `rollout_key` chose the arm. Otherwise it was chosen at random.' }),
        })
        .nullable()
        .meta({ description: 'The release on the label that chose the version, if any.' }),
    ),
    recorded: shown(z.boolean().meta({ description: 'Whether the run was recorded with `POST /executions/record`.' })),
    trace_id: shown(
      z.string().nullable().meta({
        description:
          'The trace that the execution is a step of, from the `traceparent` of the request, from a span, or as recorded.',
      }),
    ),
    span_id: shown(z.string().nullable().meta({ description: 'The id of the step of the trace.' })),
    parent_id: shown(z.string().nullable().meta({ description: 'The parent step.' })),
    conversation_id: shown(z.string().nullable()),
    kind: shown(growing(STEP_TYPES).nullable()),
    metadata: Metadata,
    scores: shown(
      z
        .array(Score)
        .optional()
        .meta({ description: `The newest ${SHOWN_SCORES} scores, if any. Only in \`GET /executions/{id}\`.` }),
    ),
    workflow_id: shown(z.string().nullable().meta({ description: 'Null for recorded runs.' })),
    created_at: shown(Timestamp),
    started_at: shown(Timestamp.nullable()),
    finished_at: shown(Timestamp.nullable()),
  })
  .meta({ id: 'Execution' });

export const ExecutionPage = pageOf(Execution).meta({ id: 'ExecutionPage' });
export const ExecutionParams = idParams('execution');

export const ListQuery = z.strictObject({
  ...PageQuery,
  ...executionFilterQuery,
  sort: sortField(
    EXECUTION_SORTS,
    `Sorts the newest ${SORTED_EXECUTIONS.toLocaleString('en-US')} matches by this field; a minus sorts descending. Missing values count as the lowest. \`latency\`: from creation to the end.`,
  ),
});

const FacetValues = z
  .array(z.object({ value: z.string().meta({ description: 'The value to pass to the filter.' }), count: z.int() }))
  .meta({ description: `The ${MAX_FACET_VALUES} values with the most executions.` });

export const FacetsQuery = z.strictObject(executionFilterQuery);
export const ExecutionFacets = z
  .object({
    facets: z.object({
      status: FacetValues,
      prompt_name: FacetValues,
      prompt_version: FacetValues,
      model: FacetValues,
      label: FacetValues,
      recorded: FacetValues,
      error_code: FacetValues,
    }),
    failures: FailureCauses.meta({
      description: `The causes of the counted failures, the most frequent first; at most ${MAX_FAILURE_CAUSES}. Messages that differ only in numbers or ids are one cause.`,
    }),
    counted: z.int().meta({ description: 'The number of executions counted.' }),
    complete: z.boolean().meta({ description: 'Whether all matches were counted. Otherwise only the newest were.' }),
  })
  .meta({ id: 'ExecutionFacets' });

export const ExecutionDeliveries = z.object({ data: z.array(Delivery) }).meta({ id: 'ExecutionDeliveries' });
