import { z } from 'zod';
import { TextPart } from '../../domain/prompts/messages.ts';
import { ModelParameters, ResponseFormat } from '../../domain/prompts/parameters.ts';
import { MAX_TOOLS, Tool, type ToolChoice } from '../../domain/prompts/prompt-content.ts';
import { isObject, type JsonValue } from '../../domain/text/json.ts';
import { shortList } from '../../domain/text/json-object.ts';
import { Metadata, PromptReference, Variables } from '../../http/fields.ts';
import { shown } from '../../http/unread.ts';
import { CallWarnings, ignored, Verbosity } from '../chat-completions/schema.ts';
import { functionShape, toTool, uniqueNames } from '../chat-completions/tool-schema.ts';
import { Input, VariableInput } from './input-schema.ts';

const parameters = ModelParameters.shape;
const schemaFormat = ResponseFormat.options[2].shape.json_schema.shape;

const FunctionTool = z
  .strictObject({ type: z.literal('function', 'must be "function": other tools are not supported'), ...functionShape })
  .transform(toTool);

const ToolChoiceField = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z
      .strictObject({ type: z.literal('function'), name: Tool.shape.name })
      .transform(({ name }): ToolChoice => ({ name })),
  ],
  'must be "auto", "none", "required" or {"type": "function", "name": "…"}',
);

const TextFormat = z.discriminatedUnion('type', [
  ResponseFormat.options[0],
  ResponseFormat.options[1],
  z
    .strictObject({
      type: z.literal('json_schema'),
      ...schemaFormat,
      description: schemaFormat.description.nullable(),
      strict: schemaFormat.strict.nullable(),
    })
    .transform(({ type, description, strict, ...rest }) => ({
      type,
      json_schema: { ...rest, ...(description && { description }), ...(typeof strict === 'boolean' && { strict }) },
    })),
]);

/** OpenAI's own prompt format: its variables can be message parts. */
const StoredPrompt = z
  .strictObject({
    id: PromptReference,
    version: z.union([z.string().max(100), z.int()], 'must be a version or a label').nullish(),
    variables: Variables.transform((variables, context) => {
      const values = Object.entries(variables).map(([name, value]): [string, JsonValue] => {
        const kind = isObject(value) ? value['type'] : undefined;
        if (typeof kind !== 'string' || !kind.startsWith('input_')) return [name, value];
        const { success, data, error } = VariableInput.safeParse(value);
        for (const { path, message } of error?.issues ?? [])
          context.addIssue({ code: 'custom', path: [name, ...path], message });
        if (!success) return [name, null];
        if (data.type === 'text') return [name, data.text];
        const { type: _type, filename, ...file } = data;
        return [name, { ...file, ...(filename !== undefined && { filename }) } as JsonValue];
      });
      return Object.fromEntries(values);
    }).nullish(),
  })
  .transform(({ id, version, variables }, context) => {
    if (version === undefined || version === null) return { reference: id, variables: variables ?? {} };
    const named = PromptReference.safeParse(`${id.promptName}@${version}`);
    if (named.success && id.version === undefined && id.label === undefined)
      return { reference: named.data, variables: variables ?? {} };
    context.addIssue({ code: 'custom', path: ['version'], message: 'must be a version or a label, given once' });
    return z.NEVER;
  });

const Summary = z.enum(['auto', 'concise', 'detailed'], 'must be "auto", "concise" or "detailed"').nullish();

const absent = (why = 'is not supported') => z.null(why).optional();

/** Fields accepted only with values that request nothing unsupported. */
const unsupported = {
  previous_response_id: absent('is not supported: send the earlier items in input'),
  conversation: absent('is not supported: send the earlier items in input'),
  background: z.literal(false, 'must be false: use POST /executions with Prefer: respond-async').nullish(),
  context_management: absent(),
  include: shortList(
    z.literal(
      'reasoning.encrypted_content',
      'must be "reasoning.encrypted_content", which is accepted but never returned: other values are not supported',
    ),
    'entries',
    { max: 10 },
  ).nullish(),
  image: absent(),
  max_tool_calls: absent(),
  moderation: absent(),
  parallel_tool_calls: z.literal(true, 'must be true: the model decides how many tools it calls').nullish(),
  service_tier: z.enum(['auto', 'default'], 'must be "auto" or "default"').nullish(),
  top_logprobs: z.literal(0, 'is not supported').nullish(),
  truncation: z.literal('disabled', 'must be "disabled"').nullish(),
};

/** The fields that OpenAI's SDKs send (https://platform.openai.com/docs/api-reference/responses/create), plus `variables`. */
export const CreateResponse = z
  .strictObject({
    model: PromptReference.optional().meta({
      description:
        'A prompt: `name` (its latest version), `name@3` or `name@label`. With `prompt`: the model to run it with.',
    }),
    prompt: StoredPrompt.nullish().meta({
      description:
        "OpenAI's own form of the prompt, its version or label, and its variables. Replaces `model` and `variables`.",
    }),
    input: Input.optional(),
    instructions: TextPart.shape.text
      .nullish()
      .meta({ description: "A system message between the prompt's own messages and `input`." }),
    variables: Variables.default({}).meta({
      description: 'A value for each placeholder of the prompt: a string, number, boolean, object or array.',
    }),
    stream: z.boolean('must be true or false').nullish(),
    stream_options: z.strictObject({ include_obfuscation: ignored() }).nullish(),
    tools: shortList(FunctionTool, 'tools', { max: MAX_TOOLS })
      .check(uniqueNames())
      .nullish()
      .meta({ description: 'Functions that replace all tools of the prompt.' }),
    tool_choice: ToolChoiceField.nullish().meta({ description: 'Replaces the tool choice of the prompt.' }),
    temperature: parameters.temperature.nullable(),
    top_p: parameters.top_p.nullable(),
    max_output_tokens: parameters.max_tokens.nullable(),
    reasoning: z
      .strictObject({
        effort: parameters.reasoning_effort.nullable(),
        summary: Summary.meta({ description: 'Ignored, because responses have no reasoning.' }),
        generate_summary: Summary.meta({ description: 'An earlier name of the same field.' }),
      })
      .nullish(),
    text: z
      .strictObject({
        format: TextFormat.nullish(),
        verbosity: Verbosity,
      })
      .nullish(),
    metadata: Metadata.nullish(),
    user: z
      .string('must be a string')
      .max(512, 'must be at most 512 characters')
      .nullish()
      .meta({ description: 'Kept in the `metadata` of the execution, as `user`.' }),
    store: ignored('Ignored: the workspace decides how long executions are kept.'),
    safety_identifier: ignored(),
    prompt_cache_key: ignored(),
    prompt_cache_options: ignored(),
    prompt_cache_retention: ignored(),
    ...unsupported,
  })
  .refine(({ model, prompt }) => model !== undefined || prompt, {
    path: ['model'],
    message: "is required: a prompt's name, name@3 or name@label",
  })
  .meta({ id: 'CreateResponse' });
export type ResponseRequest = z.output<typeof CreateResponse>;

const Status = z.enum(['in_progress', 'completed', 'incomplete', 'failed']);

const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).meta({ description: 'Empty.' }),
  logprobs: z.array(z.unknown()).meta({ description: 'Empty.' }),
});

const OutputMessage = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: Status,
  role: z.literal('assistant'),
  content: z.array(OutputText),
});

const FunctionCall = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: Status,
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().meta({ description: 'JSON.', example: '{"city":"Paris"}' }),
});

export const OutputItem = z.discriminatedUnion('type', [OutputMessage, FunctionCall]);

const FunctionToolShown = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()),
  strict: z.boolean().nullable(),
});

export const ModelResponse = z
  .object({
    id: shown(
      z.string().meta({
        description: 'The id of the execution.',
        example: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
      }),
    ),
    object: shown(z.literal('response')),
    created_at: shown(z.int().meta({ description: 'Seconds since 1970.' })),
    completed_at: shown(z.int().nullable()),
    status: shown(Status),
    background: shown(z.literal(false)),
    error: shown(z.object({ code: z.string(), message: z.string() }).nullable()),
    incomplete_details: shown(z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable()),
    instructions: shown(z.null()),
    model: shown(
      z.string().meta({ description: 'The version of the prompt that was run.', example: 'support/greeting@3' }),
    ),
    output: shown(z.array(OutputItem)),
    previous_response_id: shown(z.null()),
    parallel_tool_calls: shown(z.boolean()),
    temperature: shown(z.number().nullable()),
    top_p: shown(z.number().nullable()),
    max_output_tokens: shown(z.int().nullable()),
    tools: shown(z.array(FunctionToolShown)),
    tool_choice: shown(z.union([z.string(), z.object({ type: z.literal('function'), name: z.string() })])),
    truncation: shown(z.literal('disabled')),
    metadata: shown(z.record(z.string(), z.string())),
    usage: shown(
      z
        .object({
          input_tokens: z.int(),
          input_tokens_details: z.object({ cached_tokens: z.int() }),
          output_tokens: z.int(),
          output_tokens_details: z.object({ reasoning_tokens: z.int() }),
          total_tokens: z.int(),
        })
        .nullable(),
    ),
    warnings: shown(CallWarnings),
  })
  .meta({ id: 'ModelResponse' });
