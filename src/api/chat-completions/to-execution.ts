import { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import type { ChatCompletionRequest } from './schema.ts';

type Format = NonNullable<ChatCompletionRequest['response_format']>;

function formatOf(format: Format): NonNullable<ModelParameters['response_format']> {
  if (format.type !== 'json_schema') return format;
  const { description, strict, ...rest } = format.json_schema;
  return {
    type: 'json_schema',
    json_schema: { ...rest, ...(description && { description }), ...(typeof strict === 'boolean' && { strict }) },
  };
}

/** The parameters in the request, which override the prompt's. */
function parametersOf(body: ChatCompletionRequest): ModelParameters {
  const { response_format: format, max_completion_tokens: maxTokens } = body;
  const given = {
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    max_tokens: maxTokens ?? body.max_tokens,
    stop: body.stop,
    seed: body.seed,
    frequency_penalty: body.frequency_penalty,
    presence_penalty: body.presence_penalty,
    reasoning_effort: body.reasoning_effort,
    parallel_tool_calls: body.parallel_tool_calls,
    verbosity: body.verbosity,
    response_format: format && formatOf(format),
  };
  return ModelParameters.parse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  );
}

/** The first one present in the body, in its metadata, or in OpenAI's own fields for the user. */
function rolloutKeyOf(body: ChatCompletionRequest): string | undefined {
  const { rollout_key: own, metadata, safety_identifier: identifier, user } = body;
  const given = [own, metadata?.['rollout_key'], identifier, user];
  return given.find((key): key is string => typeof key === 'string' && key !== '');
}

/** Converts a request in OpenAI's format to an execution. */
export function toExecution(body: ChatCompletionRequest): ExecutionToRun {
  const { model, messages, variables, tools, tool_choice: toolChoice, metadata, user } = body;
  return {
    ...model,
    variables,
    ...(messages.length > 0 && { messages }),
    tools: tools ?? undefined,
    toolChoice: toolChoice ?? undefined,
    parameters: parametersOf(body),
    metadata: { ...(typeof user === 'string' && { user }), ...metadata },
    rolloutKey: rolloutKeyOf(body),
  };
}
