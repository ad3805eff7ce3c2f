import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderCall, SdkOptions } from './language-model.ts';
import { sdkMark, sdkPrompt } from './sdk-prompt.ts';

type SdkTool = NonNullable<SdkOptions['tools']>[number];
type JsonSchema = Extract<NonNullable<SdkOptions['responseFormat']>, { type: 'json' }>['schema'];

/** Converts the call to the options of the provider's SDK. */
export function sdkOptions(provider: Provider, call: ProviderCall): SdkOptions {
  const options = optionsOf(call);
  return provider.sdkOptions?.(options, call) ?? options;
}

function optionsOf({ messages, tools, toolChoice, parameters }: ProviderCall): SdkOptions {
  const { temperature, top_p, top_k, max_tokens, stop, seed, frequency_penalty, presence_penalty } = parameters;
  const { reasoning_effort } = parameters;
  const responseFormat = sdkResponseFormat(parameters);
  return {
    prompt: sdkPrompt(messages),
    ...(tools.length > 0 && {
      tools: tools.map(sdkTool),
      ...(toolChoice !== undefined && { toolChoice: sdkToolChoice(toolChoice) }),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(top_k !== undefined && { topK: top_k }),
    ...(max_tokens !== undefined && { maxOutputTokens: max_tokens }),
    ...(stop !== undefined && { stopSequences: typeof stop === 'string' ? [stop] : stop }),
    ...(seed !== undefined && { seed }),
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(reasoning_effort !== undefined && { reasoning: reasoning_effort }),
  };
}

function sdkTool({ name, description, input_schema, strict, cache_control }: Tool): SdkTool {
  return {
    type: 'function',
    name,
    inputSchema: isJsonSchema(input_schema) ? input_schema : {},
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
    ...sdkMark(cache_control),
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

/** The SDK's schema type is stricter than what we can know: the provider validates it, so only check for an object. */
function isJsonSchema(schema: Record<string, unknown>): schema is Record<string, unknown> & NonNullable<JsonSchema> {
  return typeof schema === 'object';
}
