import { providerOptionsProblem } from '../../domain/prompts/provider-options.ts';
import { isObject } from '../../domain/text/json.ts';
import { ModelError } from '../model-error.ts';
import type { Parameter, Provider } from '../providers/provider.ts';
import { OPTIONAL_PARAMETERS } from './fitted-call.ts';
import { type RequestBody, valueAt } from './json-body.ts';
import type { ProviderCall } from './language-model.ts';
import { isOneToolAtATime } from './one-tool.ts';
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
  'verbosity',
] as const satisfies Parameter[];

/**
 * The final request: the SDK's body, additions that the SDK cannot express, and the caller's `provider_options` for this provider, in
 * the provider's own names.
 *
 * @throws ModelError `model_invalid_request` if a parameter, message, tool or the tool choice would not reach the provider as given:
 * the SDK drops or changes what a model does not accept, and an execution must not claim what it ran without.
 */
export function completeBody(provider: Provider, model: string, body: RequestBody, call: ProviderCall): RequestBody {
  const completed = provider.complete?.(body, call) ?? body;
  requireAllParameters(provider, model, completed, call);
  requireAllContent(provider, model, completed, call);
  return merge(completed, optionsFor(provider, call.parameters.provider_options ?? {}));
}

function requireAllParameters(provider: Provider, model: string, body: RequestBody, call: ProviderCall): void {
  const problem = parameterProblems(provider, model, body, call).find(
    ({ parameter }) => provider.places[parameter].length > 0 || !OPTIONAL_PARAMETERS.includes(parameter),
  );
  if (problem !== undefined) throw new ModelError('model_invalid_request', problem.message);
}

/** A parameter that would not reach the model as given. */
export interface ParameterProblem {
  parameter: Parameter;
  message: string;
}

/** The parameters of a call that its completed body lacks or changes. */
export function parameterProblems(
  provider: Provider,
  model: string,
  body: RequestBody,
  call: ProviderCall,
): ParameterProblem[] {
  const { parameters } = call;
  return PARAMETERS.flatMap((parameter) => {
    const given = parameters[parameter];
    if (given === undefined || (parameter === 'response_format' && parameters.response_format?.type === 'text'))
      return [];
    if (parameter === 'parallel_tool_calls' && !isOneToolAtATime(call)) return [];
    const places = provider.places[parameter];
    const sent = places.map((place) => valueAt(body, place)).find((value) => value !== undefined);
    if (sent === undefined) return [{ parameter, message: whyNot(provider, model, parameter) }];
    // A thinking budget is added to max_tokens, never subtracted from it.
    const isChanged = typeof given === 'number' && (parameter === 'max_tokens' ? Number(sent) < given : sent !== given);
    return isChanged
      ? [{ parameter, message: `${model} accepts at most ${JSON.stringify(sent)} for ${parameter}.` }]
      : [];
  });
}

function whyNot(provider: Provider, model: string, name: Parameter): string {
  if (provider.places[name].length === 0) return `${provider.name} has no parameter ${name}; omit it.`;
  if (name === 'response_format') {
    return `${model} does not accept response_format json_object; use json_schema, with the schema for the response.`;
  }
  return `${model} does not accept ${name}, or not with the other given parameters; omit it.`;
}

/**
 * Options for other providers are ignored, so that one prompt can carry options for each of its models. They were checked when
 * stored, and are checked again here: options with uncounted costs must not be sent.
 */
function optionsFor(provider: Provider, options: Record<string, RequestBody>): RequestBody {
  const problem = providerOptionsProblem(options, provider.name);
  if (problem !== undefined) throw new ModelError('model_invalid_request', `provider_options: ${problem.message}`);
  return options[provider.name] ?? {};
}

/** Merges objects recursively; any other value replaces the old one. */
function merge(base: RequestBody, over: RequestBody): RequestBody {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const there = merged[key];
    merged[key] = isObject(there) && isObject(value) ? merge(there, value) : value;
  }
  return merged;
}
