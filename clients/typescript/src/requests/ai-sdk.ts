import { lastMark, textsUpToMarks, withMarksUpTo } from '../../../../src/domain/prompt-rules/cache-marks.ts';
import { asUserText, laterSystem } from '../../../../src/domain/prompt-rules/fold-system.ts';
import type { ChatMessage, FilePart, Tool } from '../generated/types.gen.ts';
import type { LoadedPrompt, Variables } from '../prompts/loaded-prompt.ts';
import { anthropicRequest } from './anthropic.ts';
import {
  type Call,
  type CallOptions,
  given,
  isOneToolAtATime,
  partsOf,
  refuse,
  remember,
  stopsOf,
  textOf,
  toCall,
  UnsupportedError,
} from './call.ts';
import { openAIRequest } from './openai.ts';

// biome-ignore lint/suspicious/noExplicitAny: the type that the AI SDK uses for JSON
type Json = any;
type Options = { providerOptions?: Record<string, Record<string, Json>> };
type Text = { type: 'text'; text: string } & Options;
type File = { type: 'file'; mediaType: string; filename?: string; data: string | URL } & Options;

export type AISDKMessage = Options &
  (
    | { role: 'user'; content: (Text | File)[] }
    | {
        role: 'assistant';
        content: (Text | File | ({ type: 'tool-call'; toolCallId: string; toolName: string; input: Json } & Options))[];
      }
    | {
        role: 'tool';
        content: ({
          type: 'tool-result';
          toolCallId: string;
          toolName: string;
          output: { type: 'text'; value: string } | { type: 'json'; value: Json };
        } & Options)[];
      }
  );

/** A schema for the AI SDK: the provider enforces it, and the caller validates the response. */
export interface AISDKSchema {
  '~standard': { version: 1; vendor: string; validate: (value: unknown) => { value: Json } };
}

export interface AISDKTool extends Options {
  description?: string;
  inputSchema: AISDKSchema;
  strict?: boolean;
}

export interface AISDKOutput {
  name: string;
  responseFormat: PromiseLike<{ type: 'json'; schema?: Json; name?: string; description?: string }>;
  parseCompleteOutput(options: { text: string }): Promise<Json>;
  parsePartialOutput(options: { text: string }): Promise<{ partial: Json } | undefined>;
  createElementStreamTransform(): undefined;
}

/** Options of `generateText` and `streamText`. */
export interface AISDKRequest {
  /** `provider/model`, which the AI SDK resolves through its gateway: override it with a model of a provider's package. */
  model: string;
  instructions?: ({ role: 'system'; content: string } & Options)[];
  messages: AISDKMessage[];
  tools?: Record<string, AISDKTool>;
  toolChoice?: 'auto' | 'none' | 'required' | { type: 'tool'; toolName: string };
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  stopSequences?: string[];
  seed?: number;
  reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  providerOptions?: Record<string, Record<string, Json>>;
  output?: AISDKOutput;
}

/**
 * Converts a prompt to options of the AI SDK: `generateText({ ...request, model: openai.chat('gpt-4o') })`.
 * @throws VariablesError naming the variables that are missing or invalid
 * @throws UnsupportedError naming the field that the AI SDK or the provider would drop
 */
export function toAISDK(prompt: LoadedPrompt, variables: Variables = {}, options: CallOptions = {}): AISDKRequest {
  const whole = toCall(prompt, variables, options, ['openai', 'anthropic', 'google', 'mistral', 'openai-compatible']);
  const most = MARKS[whole.provider ?? ''] ?? 0;
  const call = withMarksUpTo(whole, most).fitted;
  refuseParameters(call);
  const { parameters, tools, toolChoice, messages, about } = call;
  const later = laterSystem(messages);
  const system = messages.flatMap((message, index) =>
    message.role === 'system' && !later.has(index)
      ? textsUpToMarks(message).map(({ text, cache_control }) => ({
          role: message.role,
          content: text,
          ...optionsOf(call, { ...given({ name: message.name }), ...given({ cache_control }) }),
        }))
      : [],
  );
  const { response_format } = parameters;
  const request: AISDKRequest = {
    model: about.model,
    ...(system.length > 0 && { instructions: system }),
    messages: messages.flatMap((message, index): AISDKMessage[] =>
      message.role === 'system' && later.has(index)
        ? [{ role: 'user', content: [laterText(message, call)] }]
        : messageOf(message, call, `messages.${index}.content`),
    ),
    ...(tools.length > 0 && {
      tools: Object.fromEntries(tools.map((tool) => [tool.name, { ...toolOf(tool), ...markOf(tool, call) }])),
      ...(toolChoice !== undefined && {
        toolChoice: typeof toolChoice === 'string' ? toolChoice : { type: 'tool', toolName: toolChoice.name },
      }),
    }),
    ...given({
      maxOutputTokens: parameters.max_tokens,
      temperature: parameters.temperature,
      topP: parameters.top_p,
      topK: HAVE_TOP_K.includes(call.provider ?? '') ? parameters.top_k : undefined,
      frequencyPenalty: parameters.frequency_penalty,
      presencePenalty: parameters.presence_penalty,
      stopSequences: stopsOf(parameters),
      seed: parameters.seed,
      reasoning: OWN_EFFORT.includes(call.provider ?? '') ? undefined : parameters.reasoning_effort,
    }),
    ...(response_format !== undefined && response_format.type !== 'text' && { output: outputOf(response_format) }),
  };
  return remember(withProviderOptions(request, call), about);
}

/** Providers for which the AI SDK supports it. Elsewhere the response means the same without it. */
const HAVE_TOP_K = ['anthropic', 'google', ''];
/** Providers that get the caller's effort unchanged, whatever the AI SDK assumes about the model. */
const OWN_EFFORT = ['openai', 'openai-compatible', 'mistral'];

/** Rejects parameters that the AI SDK would drop with a warning. */
function refuseParameters(call: Call): void {
  // The AI SDK checks files, and may fetch them.
  const withoutMessages = { ...call, messages: [] };
  if (call.provider === 'openai') openAIRequest(withoutMessages);
  if (call.provider === 'anthropic') anthropicRequest(withoutMessages);
  if (call.provider === 'google' && isOneToolAtATime(call))
    refuse(call.parameters, ['parallel_tool_calls'], 'Google has no such parameter');
}

/** The maximum number of cache marks per provider. */
const MARKS: Readonly<Record<string, number>> = { anthropic: 4, 'openai-compatible': Number.POSITIVE_INFINITY };

/** Fields of messages and parts that the AI SDK supports only as provider options. */
function optionsOf({ provider }: Call, fields: Record<string, unknown>): Options {
  if (Object.keys(fields).length === 0) return {};
  if (provider === 'openai-compatible') return { providerOptions: { openaiCompatible: fields } };
  const { cache_control: cacheControl } = fields;
  return provider === 'anthropic' && cacheControl !== undefined
    ? { providerOptions: { anthropic: { cacheControl } } }
    : {};
}

const markOf = (marked: { cache_control?: unknown }, call: Call): Options =>
  optionsOf(call, given({ cache_control: marked.cache_control }));

const laterText = (message: ChatMessage, call: Call): Text => ({
  type: 'text',
  text: asUserText(textOf(partsOf(message.content as string))),
  ...markOf({ cache_control: lastMark(message.content) }, call),
});

const asText = (part: { text: string; cache_control?: unknown }, call: Call): Text => ({
  type: 'text',
  text: part.text,
  ...markOf(part, call),
});

function messageOf(message: ChatMessage, call: Call, path: string): AISDKMessage[] {
  const { provider } = call;
  switch (message.role) {
    case 'system':
      return [];
    case 'user': {
      const parts = partsOf(message.content);
      const named = given({ name: message.name });
      const content = parts.map((part) => (part.type === 'text' ? asText(part, call) : fileOf(part, call)));
      const [only] = parts;
      // For a single text the AI SDK reads the options of the part, otherwise those of the message.
      if (parts.length === 1 && only?.type === 'text')
        return [
          {
            role: 'user',
            content: [{ type: 'text', text: only.text, ...optionsOf(call, { ...named, ...marked(only) }) }],
          },
        ];
      return [{ role: 'user', content, ...optionsOf(call, named) }];
    }
    case 'assistant':
      return [
        {
          role: 'assistant',
          ...optionsOf(
            call,
            given({
              name: message.name,
              reasoning_content: message.reasoning_content,
              reasoning_details: message.reasoning_details,
            }),
          ),
          content: partsOf(message.content).map((part, index) => {
            if (part.type === 'text') return asText(part, call);
            if (part.type === 'tool_call') {
              const { id, name, input } = part;
              if (typeof input !== 'object' || input === null || Array.isArray(input))
                throw new UnsupportedError(
                  `${path}.${index}.input`,
                  'the AI SDK takes only an object as the input of a tool call',
                );
              return { type: 'tool-call' as const, toolCallId: id, toolName: name, input, ...markOf(part, call) };
            }
            if (provider !== 'google')
              throw new UnsupportedError(
                `${path}.${index}`,
                'the provider does not accept files in assistant messages',
              );
            return fileOf(part, call);
          }),
        },
      ];
    case 'tool': {
      const content = message.content.map(({ id, name, output, cache_control }) => ({
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: name,
        output:
          typeof output === 'string'
            ? ({ type: 'text', value: output } as const)
            : ({ type: 'json', value: output } as const),
        ...markOf({ cache_control }, call),
      }));
      return [{ role: 'tool', content }];
    }
  }
}

const marked = ({ cache_control }: { cache_control?: unknown }) => given({ cache_control });

const fileOf = ({ media_type, filename, data, url = '', cache_control }: FilePart, call: Call): File => ({
  type: 'file',
  mediaType: media_type,
  ...given({ filename }),
  data: data ?? new URL(url),
  ...markOf({ cache_control }, call),
});

/** The symbol that marks a ready JSON schema for the AI SDK. */
const SCHEMA = Symbol.for('vercel.ai.schema');

function schemaOf(jsonSchema: Record<string, unknown>): AISDKSchema {
  const validate = (value: unknown) => ({ success: true, value });
  const schema = { [SCHEMA]: true, jsonSchema, validate };
  return Object.assign(schema, {
    '~standard': { version: 1 as const, vendor: 'pms', validate: (value: unknown) => ({ value }) },
  });
}

const toolOf = ({ description, input_schema, strict }: Tool): AISDKTool => ({
  ...given({ description }),
  inputSchema: schemaOf(input_schema),
  ...given({ strict }),
});

type Format = Exclude<NonNullable<Call['parameters']['response_format']>, { type: 'text' }>;

function outputOf(format: Format): AISDKOutput {
  const { schema, name, description } = format.type === 'json_schema' ? format.json_schema : {};
  return {
    name: 'json',
    responseFormat: Promise.resolve({ type: 'json' as const, ...given({ schema, name, description }) }),
    parseCompleteOutput: async ({ text }) => JSON.parse(text),
    async parsePartialOutput({ text }) {
      try {
        return { partial: JSON.parse(text) };
      } catch {
        return undefined;
      }
    },
    createElementStreamTransform: () => undefined,
  };
}

/** The AI SDK's names for options in the provider's names: of a call (`.`), or of the provider. */
const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openai: {
    temperature: '.temperature',
    top_p: '.topP',
    max_tokens: '.maxOutputTokens',
    stop: '.stopSequences',
    seed: '.seed',
    frequency_penalty: '.frequencyPenalty',
    presence_penalty: '.presencePenalty',
    max_completion_tokens: 'maxCompletionTokens',
    logit_bias: 'logitBias',
    logprobs: 'logprobs',
    metadata: 'metadata',
    prediction: 'prediction',
    prompt_cache_key: 'promptCacheKey',
    prompt_cache_retention: 'promptCacheRetention',
    reasoning_effort: 'reasoningEffort',
    safety_identifier: 'safetyIdentifier',
    service_tier: 'serviceTier',
    store: 'store',
    user: 'user',
    verbosity: 'textVerbosity',
  },
  anthropic: {
    temperature: '.temperature',
    top_p: '.topP',
    top_k: '.topK',
    max_tokens: '.maxOutputTokens',
    stop_sequences: '.stopSequences',
    'metadata.user_id': 'metadata.userId',
    'output_config.effort': 'effort',
    cache_control: 'cacheControl',
    service_tier: 'serviceTier',
  },
  google: {
    labels: 'labels',
    safetySettings: 'safetySettings',
    'generationConfig.temperature': '.temperature',
    'generationConfig.topP': '.topP',
    'generationConfig.topK': '.topK',
    'generationConfig.maxOutputTokens': '.maxOutputTokens',
    'generationConfig.seed': '.seed',
    'generationConfig.stopSequences': '.stopSequences',
    'generationConfig.frequencyPenalty': '.frequencyPenalty',
    'generationConfig.presencePenalty': '.presencePenalty',
    'generationConfig.thinkingConfig': 'thinkingConfig',
    'generationConfig.mediaResolution': 'mediaResolution',
  },
  mistral: {
    temperature: '.temperature',
    top_p: '.topP',
    max_tokens: '.maxOutputTokens',
    random_seed: '.seed',
    stop: '.stopSequences',
    safe_prompt: 'safePrompt',
    document_image_limit: 'documentImageLimit',
    document_page_limit: 'documentPageLimit',
    reasoning_effort: 'reasoningEffort',
  },
};
/** Objects with arbitrary field names. */
const GROUPS = ['metadata', 'output_config', 'generationConfig'];

function withProviderOptions(request: AISDKRequest, call: Call): AISDKRequest {
  const { provider = '', parameters } = call;
  const own: Record<string, Json> = {};
  const result: Record<string, unknown> = { ...request };
  // Streams would otherwise request tool inputs in an unvalidated form.
  if (provider === 'anthropic' && call.tools.length > 0) own['toolStreaming'] = false;
  if (isOneToolAtATime(call)) {
    if (provider === 'anthropic') own['disableParallelToolUse'] = true;
    else if (provider === 'openai-compatible') own['parallel_tool_calls'] = false;
    else if (provider !== 'google') own['parallelToolCalls'] = false;
  }
  if (OWN_EFFORT.includes(provider)) Object.assign(own, given({ reasoningEffort: parameters.reasoning_effort }));
  if (provider === 'openai-compatible')
    Object.assign(own, given({ top_k: parameters.top_k, textVerbosity: parameters.verbosity }));
  if (provider === 'openai') Object.assign(own, given({ textVerbosity: parameters.verbosity }));
  const { response_format } = parameters;
  const isLoose = response_format?.type === 'json_schema' && response_format.json_schema.strict === false;
  if (isLoose && provider !== 'anthropic' && provider !== 'google') own['strictJsonSchema'] = false;
  const names = NAMES[provider] ?? {};
  for (const [path, value] of fieldsOf(
    parameters.provider_options?.[provider] ?? {},
    provider === 'anthropic' || provider === 'google',
  )) {
    const name = provider === 'openai-compatible' ? path : names[path];
    if (name === undefined)
      throw new UnsupportedError(`parameters.provider_options.${provider}.${path}`, 'the AI SDK has no option for it');
    const [group, inner] = name.split('.') as [string, string?];
    if (group === '' && inner !== undefined) result[inner] = inner === 'stopSequences' ? [value].flat() : value;
    else own[group] = inner === undefined ? value : { [inner]: value };
  }
  if (Object.keys(own).length > 0) result['providerOptions'] = { [provider]: own };
  return result as unknown as AISDKRequest;
}

function fieldsOf(options: Record<string, unknown>, hasGroups: boolean): [path: string, value: unknown][] {
  return Object.entries(options).flatMap(([name, value]): [string, unknown][] => {
    if (!hasGroups || !GROUPS.includes(name) || typeof value !== 'object' || value === null) return [[name, value]];
    return Object.entries(value).map(([inner, each]) => [`${name}.${inner}`, each]);
  });
}
