import { ModelParameters } from '../../../src/domain/prompts/parameters.ts';
import { isObject, type Json } from '../json.ts';

/** What other products call the parameters. */
const NAMES: Record<string, keyof ModelParameters> = {
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  top_k: 'top_k',
  topK: 'top_k',
  max_tokens: 'max_tokens',
  maxTokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  max_completions_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  stop: 'stop',
  stop_sequences: 'stop',
  seed: 'seed',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  reasoning_effort: 'reasoning_effort',
  parallel_tool_calls: 'parallel_tool_calls',
  response_format: 'response_format',
};

/** Settings of another product, told apart. */
export interface TakenParameters {
  parameters: ModelParameters;
  /** Those that have no place here, or a value that a parameter can't have. */
  others: Json;
}

/** `json_schema` as OpenAI's APIs have it; `text` says nothing. */
function responseFormat(value: unknown): unknown {
  if (!isObject(value) || value['type'] === 'text') return undefined;
  if (value['type'] !== 'json_schema') return value;
  const { name, description, schema, strict } = isObject(value['json_schema']) ? value['json_schema'] : value;
  const given = { name, description, schema, strict };
  const fields = Object.entries(given).filter(([, field]) => field !== undefined && field !== null);
  return { type: 'json_schema', json_schema: Object.fromEntries(fields) };
}

/** Takes what is a parameter here out of the settings of another product. An unset one (null, `max_tokens: -1`) is none. */
export function takeParameters(settings: Json): TakenParameters {
  const parameters: Record<string, unknown> = {};
  const others: Json = {};
  for (const [key, value] of Object.entries(settings)) {
    const name = Object.hasOwn(NAMES, key) ? NAMES[key] : undefined;
    const isUnset = value === null || value === undefined || (name === 'max_tokens' && value === -1);
    if (name !== undefined && (isUnset || (Array.isArray(value) && value.length === 0))) continue;
    const taken = name === 'response_format' ? responseFormat(value) : value;
    if (name === 'response_format' && taken === undefined) continue;
    if (name === undefined || name in parameters || !ModelParameters.safeParse({ [name]: taken }).success)
      others[key] = value;
    else parameters[name] = taken;
  }
  return { parameters: ModelParameters.parse(parameters), others };
}
