import { z } from 'zod';
import { ModelParameters, ResponseFormat } from '../../domain/prompts/parameters.ts';
import { Metadata, PromptReference, RolloutKey, Variables, Warnings } from '../../http/fields.ts';
import { shown } from '../../http/unread.ts';
import { Messages } from './message-schema.ts';
import { ToolChoiceField, Tools } from './tool-schema.ts';

const parameters = ModelParameters.shape;
const schemaFormat = ResponseFormat.options[2].shape.json_schema;

const JsonSchemaFormat = z.strictObject({
  type: z.literal('json_schema'),
  json_schema: z.strictObject({
    ...schemaFormat.shape,
    description: schemaFormat.shape.description.nullable(),
    strict: schemaFormat.shape.strict.nullable(),
  }),
});

/** Fields accepted only with values that request nothing unsupported. */
const unsupported = {
  n: z.literal(1, 'must be 1: only one choice is supported').nullish(),
  logprobs: z.literal(false, 'is not supported').nullish(),
  top_logprobs: z.literal(0, 'is not supported').nullish(),
  logit_bias: z.strictObject({}, 'is not supported').nullish(),
  modalities: z.array(z.literal('text', 'must be "text"'), 'must be ["text"]').length(1, 'must be ["text"]').nullish(),
  audio: z.null('is not supported').optional(),
  prediction: z.null('is not supported').optional(),
  web_search_options: z.null('is not supported').optional(),
  service_tier: z.enum(['auto', 'default'], 'must be "auto" or "default"').nullish(),
  functions: z.null('is not supported: use tools').optional(),
  function_call: z.null('is not supported: use tool_choice').optional(),
};

/** Keeps this form for generated clients: once only "medium" was allowed. */
export const Verbosity = z
  .union([z.literal('medium'), z.enum(['low', 'high']), z.null()], 'must be "low", "medium" or "high"')
  .optional();

export const ignored = (what = 'Ignored.') =>
  z
    .unknown()
    .meta({ override: { description: what } })
    .optional();

/** The fields that OpenAI's SDKs send (https://platform.openai.com/docs/api-reference/chat/create), plus `variables`. */
export const CreateChatCompletion = z
  .strictObject({
    model: PromptReference,
    messages: Messages.default([]).meta({ description: "Appended to the prompt's own messages." }),
    variables: Variables.default({}).meta({
      description: 'A value for each placeholder of the prompt: a string, number, boolean, object or array.',
    }),
    stream: z.boolean('must be true or false').nullish(),
    stream_options: z
      .strictObject({
        include_usage: z.boolean('must be true or false').nullish(),
        include_obfuscation: ignored(),
      })
      .nullish()
      .meta({ description: '`include_usage`: a last chunk without choices has the tokens, if they are known.' }),
    tools: Tools.nullish().meta({ description: 'Replace all tools of the prompt.' }),
    tool_choice: ToolChoiceField.nullish().meta({ description: 'Replaces the tool choice of the prompt.' }),
    temperature: parameters.temperature.nullable(),
    top_p: parameters.top_p.nullable(),
    top_k: parameters.top_k.nullable().meta({ description: 'Left out if the provider has no such parameter.' }),
    max_tokens: parameters.max_tokens.nullable(),
    max_completion_tokens: parameters.max_tokens
      .nullable()
      .meta({ description: 'Takes precedence over `max_tokens`.' }),
    stop: parameters.stop.nullable(),
    seed: parameters.seed.nullable(),
    frequency_penalty: parameters.frequency_penalty.nullable(),
    presence_penalty: parameters.presence_penalty.nullable(),
    reasoning_effort: parameters.reasoning_effort.nullable(),
    parallel_tool_calls: parameters.parallel_tool_calls.nullable(),
    verbosity: Verbosity,
    response_format: z
      .discriminatedUnion('type', [ResponseFormat.options[0], ResponseFormat.options[1], JsonSchemaFormat])
      .nullish(),
    metadata: Metadata.nullish(),
    rollout_key: RolloutKey.nullish(),
    user: z
      .string('must be a string')
      .max(512, 'must be at most 512 characters')
      .nullish()
      .meta({ description: 'Kept in the `metadata` of the execution, as `user`.' }),
    store: ignored(),
    safety_identifier: ignored('Used as `rollout_key` if neither the body nor `metadata` has one. Defaults to `user`.'),
    prompt_cache_key: ignored(),
    prompt_cache_retention: ignored(),
    ...unsupported,
  })
  .meta({ id: 'CreateChatCompletion' });
export type ChatCompletionRequest = z.output<typeof CreateChatCompletion>;

/** Not an OpenAI field. */
export const CallWarnings = Warnings.optional().meta({
  description:
    'Parts of the request that were sent to the model in another form, or not at all. Absent if there are none.',
});

const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
  tokens_unknown: z.boolean().optional().meta({
    description: 'True if the provider did not say what it used: the counts leave that call out.',
  }),
});

const FunctionToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({
    name: z.string(),
    arguments: z.string().meta({ description: 'JSON.', example: '{"city":"Paris"}' }),
  }),
});

export const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);

export const ChatCompletion = z
  .object({
    id: shown(
      z.string().meta({
        description: 'The id of the execution.',
        example: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
      }),
    ),
    object: shown(z.literal('chat.completion')),
    created: shown(z.int().meta({ description: 'Seconds since 1970.' })),
    model: shown(z.string().meta({ description: 'The prompt version that ran.', example: 'support/greeting@3' })),
    choices: shown(
      z.array(
        z.object({
          index: z.literal(0),
          message: z.object({
            role: z.literal('assistant'),
            content: z.string().nullable(),
            refusal: z.null(),
            tool_calls: z.array(FunctionToolCall).optional(),
          }),
          logprobs: z.null(),
          finish_reason: FinishReason,
        }),
      ),
    ),
    usage: shown(Usage),
    warnings: shown(CallWarnings),
  })
  .meta({ id: 'ChatCompletion' });

/** How long to wait; parsed by `waitMsOf`. */
export const PreferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({
      description: '`wait=N`: 0–300 seconds, default 300.',
      param: { id: 'Prefer' },
    }),
});
