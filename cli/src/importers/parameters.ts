import { ModelParameters } from '../../../src/domain/prompts/parameters.ts';
import { isObject, type Json } from '../json.ts';

/** The names of parameters in other products. */
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

/** Settings of another product, split by support. */
export interface TakenParameters {
  parameters: ModelParameters;
  /** Settings that are not supported here, or have an invalid value. */
  others: Json;
}

/** `json_schema` in the form of OpenAI's APIs; `text` is the default. */
function responseFormat(value: unknown): unknown {
  if (!isObject(value) || value['type'] === 'text') return undefined;
  if (value['type'] !== 'json_schema') return value;
  const { name, description, schema, strict } = isObject(value['json_schema']) ? value['json_schema'] : value;
  const given = { name, description, schema, strict };
  const fields = Object.entries(given).filter(([, field]) => field !== undefined && field !== null);
  return { type: 'json_schema', json_schema: Object.fromEntries(fields) };
}

/**
 * Extracts the supported parameters from the settings of another product. Unset values (null, `max_tokens: -1`) are ignored.
 */
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
