import type { ErrorDetail } from '../../domain/errors.ts';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import type { ResponseRequest } from './schema.ts';

/** The parameters in the request, which override the prompt's. */
function parametersOf({ temperature, top_p, max_output_tokens, reasoning, text }: ResponseRequest): ModelParameters {
  const given = {
    temperature,
    top_p,
    max_tokens: max_output_tokens,
    reasoning_effort: reasoning?.effort,
    response_format: text?.format,
    verbosity: text?.verbosity,
  };
  return ModelParameters.parse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  );
}

/** The requested prompt, and the model that replaces its own. */
function promptOf({ model, prompt }: ResponseRequest) {
  if (!prompt) return model ?? { promptName: '' };
  return { ...prompt.reference, ...(model !== undefined && { model: model.promptName }) };
}

/** Fields of a request that are ignored before any model is called. */
export function leftOutOf({ input, reasoning }: ResponseRequest): ErrorDetail[] {
  const hasSummary = reasoning?.summary || reasoning?.generate_summary;
  const isUnreadable = input?.some((item) => item.kind === 'reasoning' && item.text === '');
  return [
    ...(hasSummary ? [{ path: 'reasoning.summary', message: 'is left out: responses have no reasoning' }] : []),
    ...(isUnreadable ? [{ path: 'input', message: 'is sent without reasoning items that have no text' }] : []),
  ];
}

/** Converts a request in the format of the Responses API to an execution. @param messages the messages of its input */
export function toExecution(body: ResponseRequest, messages: readonly ChatMessage[]): ExecutionToRun {
  const { instructions, variables, tools, tool_choice: toolChoice, metadata, user } = body;
  const first: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const all = [...first, ...messages];
  return {
    ...promptOf(body),
    variables: { ...body.prompt?.variables, ...variables },
    ...(all.length > 0 && { messages: all }),
    tools: tools ?? undefined,
    toolChoice: toolChoice ?? undefined,
    parameters: parametersOf(body),
    metadata: { ...(typeof user === 'string' && { user }), ...metadata },
    stream: body.stream ?? false,
  };
}
