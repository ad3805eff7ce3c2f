import type { ChatMessage } from '../../domain/prompts/messages.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import type { ResponseRequest } from './schema.ts';

/** Those that are given: they are laid over the prompt's. */
function parametersOf({ temperature, top_p, max_output_tokens, reasoning, text }: ResponseRequest): ModelParameters {
  const given = {
    temperature,
    top_p,
    max_tokens: max_output_tokens,
    reasoning_effort: reasoning?.effort,
    response_format: text?.format,
  };
  return ModelParameters.parse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  );
}

/** The execution that a request in the format of the Responses API asks for. @param messages those of its input */
export function toExecution(body: ResponseRequest, messages: readonly ChatMessage[]): ExecutionToRun {
  const { model, instructions, variables, tools, tool_choice: toolChoice, metadata, user } = body;
  const first: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const all = [...first, ...messages];
  return {
    ...model,
    variables,
    ...(all.length > 0 && { messages: all }),
    tools: tools ?? undefined,
    toolChoice: toolChoice ?? undefined,
    parameters: parametersOf(body),
    metadata: { ...(typeof user === 'string' && { user }), ...metadata },
    stream: body.stream ?? false,
  };
}
