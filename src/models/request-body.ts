import type { ModelParameters } from '../domain/parameters.ts';
import { providerOptionsProblem } from '../domain/provider-options.ts';
import { isObject, listOf, type RequestBody, valueAt } from './json-body.ts';
import type { ProviderCall } from './language-model.ts';
import { ModelError } from './model-error.ts';
import type { HttpProvider } from './names.ts';
import { isOneToolAtATime } from './sdk-options.ts';
import { requireAllContent } from './sent-content.ts';

const PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
] as const satisfies (keyof ModelParameters)[];
type Parameter = (typeof PARAMETERS)[number];

/** Where each parameter is in a provider's request: the first place that is filled. Empty: the provider has no such parameter. */
const SAMPLING_OF_OPENAI: Record<Parameter, readonly string[]> = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  top_k: [],
  max_tokens: ['max_tokens', 'max_completion_tokens'],
  stop: ['stop'],
  seed: ['seed'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  response_format: ['response_format'],
  reasoning_effort: ['reasoning_effort'],
  parallel_tool_calls: ['parallel_tool_calls'],
};

const PLACES: Record<HttpProvider, Record<Parameter, readonly string[]>> = {
  openai: SAMPLING_OF_OPENAI,
  // Not OpenAI's, but taken by vLLM, Ollama, LM Studio and llama.cpp.
  'openai-compatible': { ...SAMPLING_OF_OPENAI, top_k: ['top_k'] },
  anthropic: {
    temperature: ['temperature'],
    top_p: ['top_p'],
    top_k: ['top_k'],
    max_tokens: ['max_tokens'],
    stop: ['stop_sequences'],
    seed: [],
    frequency_penalty: [],
    presence_penalty: [],
    response_format: ['output_config.format', 'tool_choice'],
    reasoning_effort: ['output_config.effort', 'thinking'],
    parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
  },
  google: {
    temperature: ['generationConfig.temperature'],
    top_p: ['generationConfig.topP'],
    top_k: ['generationConfig.topK'],
    max_tokens: ['generationConfig.maxOutputTokens'],
    stop: ['generationConfig.stopSequences'],
    seed: ['generationConfig.seed'],
    frequency_penalty: ['generationConfig.frequencyPenalty'],
    presence_penalty: ['generationConfig.presencePenalty'],
    response_format: ['generationConfig.responseMimeType'],
    reasoning_effort: ['generationConfig.thinkingConfig'],
    parallel_tool_calls: [],
  },
};

/**
 * The request as it goes out: the SDK's body, what it can't express, and on top of it the caller's `provider_options` for
 * this provider, in the provider's own names.
 *
 * @throws ModelError `model_invalid_request` when a parameter, message, tool or the tool choice would not reach the provider as given:
 *   the SDK drops or changes what a model does not accept, and an execution must not claim what it ran without.
 */
export function completeBody(
  provider: HttpProvider,
  model: string,
  body: RequestBody,
  call: ProviderCall,
): RequestBody {
  const { parameters } = call;
  const { response_format, reasoning_effort, top_k, provider_options = {} } = parameters;
  const completed = { ...body };
  if (provider === 'openai' || provider === 'openai-compatible') {
    if (response_format?.type === 'json_object') completed['response_format'] = response_format;
    if (response_format?.type === 'json_schema') {
      const { json_schema } = response_format;
      completed['response_format'] = { type: 'json_schema', json_schema: { strict: true, ...json_schema } };
    }
    if (call.tools.length > 0) completed['tools'] = withGivenSchemas(completed['tools'], call);
    if (isOneToolAtATime(call)) completed['parallel_tool_calls'] = false;
    completed['messages'] = withGivenInputs(completed['messages'], call);
  }
  if (provider === 'openai-compatible') {
    if (reasoning_effort !== undefined) completed['reasoning_effort'] = reasoning_effort;
    if (top_k !== undefined) completed['top_k'] = top_k;
  }
  requireAllParameters(provider, model, completed, call);
  requireAllContent(provider, model, completed, call);
  return merge(completed, optionsFor(provider, provider_options));
}

/** The tools with the schemas as they were given: the SDK takes out of them what OpenAI's models once did not take. */
function withGivenSchemas(sent: unknown, { tools }: ProviderCall): unknown {
  const given = new Map(tools.map(({ name, input_schema }) => [name, input_schema]));
  return listOf(sent).map((tool) => {
    const named = isObject(tool) ? tool['function'] : undefined;
    if (!isObject(tool) || !isObject(named)) return tool;
    return { ...tool, function: { ...named, parameters: given.get(String(named['name'])) } };
  });
}

/** The assistant's tool calls with the inputs as they were given, which need not be objects: a model may have written bad JSON. */
function withGivenInputs(sent: unknown, { messages }: ProviderCall): unknown {
  const inputs = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool_call' ? [part.input] : [])),
  );
  let next = 0;
  return listOf(sent).map((message) => {
    if (!isObject(message) || !Array.isArray(message['tool_calls'])) return message;
    const toolCalls = message['tool_calls'].map((toolCall: unknown) => {
      const input = inputs[next];
      next += 1;
      if (!isObject(toolCall) || !isObject(toolCall['function'])) return toolCall;
      const text = typeof input === 'string' ? input : JSON.stringify(input);
      return { ...toolCall, function: { ...toolCall['function'], arguments: text } };
    });
    return { ...message, tool_calls: toolCalls };
  });
}

function requireAllParameters(provider: HttpProvider, model: string, body: RequestBody, call: ProviderCall): void {
  const { parameters } = call;
  for (const name of PARAMETERS) {
    const given = parameters[name];
    if (given === undefined || (name === 'response_format' && parameters.response_format?.type === 'text')) continue;
    if (name === 'parallel_tool_calls' && !isOneToolAtATime(call)) continue;
    const places = PLACES[provider][name];
    const sent = places.map((place) => valueAt(body, place)).find((value) => value !== undefined);
    if (sent === undefined) throw new ModelError('model_invalid_request', whyNot(provider, model, name));
    // A thinking budget is added to max_tokens, never taken off it.
    const isChanged = typeof given === 'number' && (name === 'max_tokens' ? Number(sent) < given : sent !== given);
    if (isChanged) {
      throw new ModelError('model_invalid_request', `${model} takes ${name} only up to ${JSON.stringify(sent)}.`);
    }
  }
}

function whyNot(provider: HttpProvider, model: string, name: Parameter): string {
  if (PLACES[provider][name].length === 0) return `${provider} has no parameter ${name}; leave it out.`;
  if (name === 'response_format') {
    return `${model} takes no response_format json_object; use json_schema, with the schema that the response is to follow.`;
  }
  return `${model} does not take ${name}, or not together with the other parameters given; leave it out.`;
}

/**
 * Options for other providers are ignored, so that one prompt can carry options for each model it is run on. They were
 * checked when they were stored, and again here: options with costs that are not counted must not be sent.
 */
function optionsFor(provider: HttpProvider, options: Record<string, RequestBody>): RequestBody {
  const problem = providerOptionsProblem(options, provider);
  if (problem !== undefined) throw new ModelError('model_invalid_request', `provider_options: ${problem.message}`);
  return options[provider] ?? {};
}

/** Objects are merged into each other, anything else replaces what was there. */
function merge(base: RequestBody, over: RequestBody): RequestBody {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const there = merged[key];
    merged[key] = isObject(there) && isObject(value) ? merge(there, value) : value;
  }
  return merged;
}
