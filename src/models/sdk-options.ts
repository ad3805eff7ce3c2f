import type { ModelParameters } from '../domain/parameters.ts';
import type { Tool, ToolChoice } from '../domain/prompt-content.ts';
import type { ProviderCall, SdkOptions } from './language-model.ts';
import type { HttpProvider } from './names.ts';
import { sdkPrompt } from './sdk-prompt.ts';

type SdkTool = NonNullable<SdkOptions['tools']>[number];
type JsonSchema = Extract<NonNullable<SdkOptions['responseFormat']>, { type: 'json' }>['schema'];

/**
 * The call as the provider's SDK takes it. What the SDK would narrow down for an OpenAI-like server (the caller's JSON
 * schema, efforts) is left to `completeBody`.
 */
export function sdkOptions(provider: HttpProvider, call: ProviderCall): SdkOptions {
  const { messages, tools, toolChoice, parameters } = call;
  const { temperature, top_p, top_k, max_tokens, stop, seed, frequency_penalty, presence_penalty } = parameters;
  const { reasoning_effort } = parameters;
  const isOpenAiLike = provider === 'openai' || provider === 'openai-compatible';
  const responseFormat = isOpenAiLike ? undefined : sdkResponseFormat(parameters);
  return {
    prompt: sdkPrompt(messages),
    ...(tools.length > 0 && {
      tools: tools.map(sdkTool),
      ...(toolChoice !== undefined && { toolChoice: sdkToolChoice(toolChoice) }),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(top_k !== undefined && !isOpenAiLike && { topK: top_k }),
    ...(max_tokens !== undefined && { maxOutputTokens: max_tokens }),
    ...(stop !== undefined && { stopSequences: typeof stop === 'string' ? [stop] : stop }),
    ...(seed !== undefined && { seed }),
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(reasoning_effort !== undefined && !isOpenAiLike && { reasoning: reasoning_effort }),
    ...(reasoning_effort !== undefined &&
      provider === 'openai' && { providerOptions: { openai: { reasoningEffort: reasoning_effort } } }),
    ...(provider === 'anthropic' &&
      isOneToolAtATime(call) && { providerOptions: { anthropic: { disableParallelToolUse: true } } }),
  };
}

/** Whether the model must not call more than one tool in a response. Several are every provider's default. */
export function isOneToolAtATime({ tools, toolChoice, parameters }: ProviderCall): boolean {
  return parameters.parallel_tool_calls === false && tools.length > 0 && toolChoice !== 'none';
}

function sdkTool({ name, description, input_schema, strict }: Tool): SdkTool {
  return {
    type: 'function',
    name,
    inputSchema: isJsonSchema(input_schema) ? input_schema : {},
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
}

function sdkToolChoice(choice: ToolChoice): NonNullable<SdkOptions['toolChoice']> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}

function sdkResponseFormat({ response_format }: ModelParameters): SdkOptions['responseFormat'] {
  if (response_format === undefined || response_format.type === 'text') return undefined;
  if (response_format.type === 'json_object') return { type: 'json' };
  const { name, description, schema } = response_format.json_schema;
  if (!isJsonSchema(schema)) return { type: 'json' };
  return { type: 'json', schema, name, ...(description !== undefined && { description }) };
}

/** The SDK's type of a schema says more than the provider, which judges it, lets us know; an object is all that is sure. */
function isJsonSchema(schema: Record<string, unknown>): schema is Record<string, unknown> & NonNullable<JsonSchema> {
  return typeof schema === 'object';
}
