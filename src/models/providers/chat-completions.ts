import type { JsonValue } from '../../domain/text/json.ts';
import { isObject } from '../../domain/text/json.ts';
import { fieldOf, listOf, type RequestBody, valueAt } from '../requests/json-body.ts';
import type { ProviderCall, SdkOptions } from '../requests/language-model.ts';
import { isOneToolAtATime } from '../requests/one-tool.ts';
import { countsOfMessages } from './counts.ts';
import type { Places, RequestReader } from './provider.ts';

// Shared by all providers with OpenAI's chat completions API. https://platform.openai.com/docs/api-reference/chat/create

export const CHAT_PARAMETER_PATHS = {
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
  verbosity: ['verbosity'],
} satisfies Places;

/**
 * Leaves out options that the SDK would restrict (the caller's JSON schema, efforts): `completeChat` adds them, and the
 * provider validates them.
 */
export function chatOptions({ topK: _k, responseFormat: _f, reasoning: _r, ...options }: SdkOptions): SdkOptions {
  return options;
}

export function completeChat(body: RequestBody, call: ProviderCall): RequestBody {
  const { response_format } = call.parameters;
  const completed = { ...body };
  if (response_format?.type === 'json_object') completed['response_format'] = response_format;
  if (response_format?.type === 'json_schema') {
    const { json_schema } = response_format;
    completed['response_format'] = { type: 'json_schema', json_schema: { strict: true, ...json_schema } };
  }
  if (call.tools.length > 0) completed['tools'] = withGivenSchemas(completed['tools'], call);
  if (isOneToolAtATime(call)) completed['parallel_tool_calls'] = false;
  completed['messages'] = withGivenFields(withGivenInputs(completed['messages'], call), call);
  return completed;
}

export const withVerbosity = (body: RequestBody, { parameters: { verbosity } }: ProviderCall): RequestBody =>
  verbosity === undefined ? body : { ...body, verbosity };

/** Restores the tools' original schemas, from which the SDK removes what OpenAI's models once did not accept. */
function withGivenSchemas(sent: unknown, { tools }: ProviderCall): unknown {
  const given = new Map(tools.map(({ name, input_schema }) => [name, input_schema]));
  return listOf(sent).map((tool) => {
    const named = isObject(tool) ? tool['function'] : undefined;
    if (!isObject(tool) || !isObject(named)) return tool;
    return { ...tool, function: { ...named, parameters: given.get(String(named['name'])) } };
  });
}

/**
 * Restores the original inputs of the assistant's tool calls, which need not be objects: a model may have written invalid JSON.
 */
function withGivenInputs(sent: unknown, { messages }: ProviderCall): unknown[] {
  const inputs: JsonValue[] = messages.flatMap(({ content }) =>
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

/** Adds the message fields that the SDK does not know. */
function withGivenFields(sent: unknown[], { messages }: ProviderCall): unknown[] {
  // Each message is sent as one, except for tool results.
  const fields = messages.flatMap((message): RequestBody[] => {
    if (message.role === 'tool') return message.content.map(() => ({}));
    const { role: _role, content: _content, ...others } = message;
    return [others];
  });
  if (fields.length !== sent.length || fields.every((own) => Object.keys(own).length === 0)) return sent;
  return sent.map((message, index) => (isObject(message) ? { ...message, ...fields[index] } : message));
}

export const chatReader: RequestReader = {
  counts: countsOfMessages,
  toolNames: (body) => listOf(body['tools']).map((tool) => fieldOf(fieldOf(tool, 'function'), 'name')),
  toolChoice(body) {
    const [choice, name] = [body['tool_choice'], valueAt(body, 'tool_choice.function.name')];
    if (typeof name === 'string') return { name };
    return choice === 'auto' || choice === 'none' || choice === 'required' ? choice : undefined;
  },
};

/** Usage is sent only on request. */
export function chatStreamed(url: string, body: RequestBody): { url: string; body: RequestBody } {
  return { url, body: { ...body, stream: true, stream_options: { include_usage: true } } };
}
