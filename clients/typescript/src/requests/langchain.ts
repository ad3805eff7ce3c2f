import type { LoadedPrompt, Variables } from '../prompts/loaded-prompt.ts';
import { type AnthropicRequest, toAnthropic } from './anthropic.ts';
import { type CallOptions, modelOf, recall, remember, UnsupportedError } from './call.ts';
import { type OpenAIRequest, toOpenAI } from './openai.ts';

type LangChainToolCall = { id: string; name: string; args: Record<string, unknown>; type: 'tool_call' };
// biome-ignore lint/suspicious/noExplicitAny: a provider's own, passed on by LangChain
type Block = { type: string; [field: string]: any };
type Text = { type: 'text'; text: string };
/** Messages for any LangChain model; files are in the provider's own form. */
export type LangChainMessage =
  | { role: 'system' | 'developer'; content: string | Text[]; name?: string }
  | { role: 'user'; content: string | Block[]; name?: string }
  | { role: 'assistant'; content: string | Block[]; tool_calls?: LangChainToolCall[]; name?: string }
  | { role: 'tool'; content: string; tool_call_id: string };

/** Options of `new ChatOpenAI(options)` or `new ChatAnthropic(options)`: the prompt's model and its parameters. */
export interface LangChainOptions {
  model: string;
  maxTokens?: number;
  /** For OpenAI's models. */
  verbosity?: 'low' | 'medium' | 'high';
  /** For OpenAI's models: additional request fields. */
  modelKwargs?: Record<string, unknown>;
  /** For Anthropic's models. */
  outputConfig?: NonNullable<AnthropicRequest['output_config']>;
  invocationKwargs?: Record<string, unknown>;
}

export interface LangChainRequest {
  messages: LangChainMessage[];
  options: LangChainOptions;
}

/**
 * Converts a prompt to messages and options for LangChain: `new ChatOpenAI(options).invoke(messages)`, or `ChatAnthropic` for a model
 * of Anthropic. It sends the same request as the service.
 * @throws VariablesError naming the variables that are missing or invalid
 * @throws UnsupportedError naming the field that the provider does not support
 */
export function toLangChain(
  prompt: LoadedPrompt,
  variables: Variables = {},
  options: CallOptions = {},
): LangChainRequest {
  if (modelOf(prompt, options).provider === 'anthropic') {
    const request = toAnthropic(prompt, variables, options);
    return remember(ofAnthropic(request), recall(request));
  }
  const request = toOpenAI(prompt, variables, options);
  return remember(ofOpenAI(request), recall(request));
}

function ofOpenAI(request: OpenAIRequest): LangChainRequest {
  const { messages, model, max_tokens, max_completion_tokens, verbosity, ...modelKwargs } = request;
  const maxTokens = max_completion_tokens ?? max_tokens;
  const made = messages.map((message, index): LangChainMessage => {
    if (message.role !== 'assistant') return message;
    const { content, tool_calls, name } = message;
    const named = name === undefined ? {} : { name };
    if (tool_calls === undefined) return { role: 'assistant', content: content ?? '', ...named };
    const calls = tool_calls.map(({ id, function: { name: tool, arguments: text } }) => ({
      id,
      name: tool,
      args: argsOf(text, index),
      type: 'tool_call' as const,
    }));
    return { role: 'assistant', content: content ?? '', tool_calls: calls, ...named };
  });
  return {
    messages: made,
    options: {
      model,
      ...(maxTokens !== undefined && { maxTokens }),
      // LangChain overrides `modelKwargs` with its own value, even if that is unset.
      ...(verbosity !== undefined && { verbosity }),
      modelKwargs,
    },
  };
}

function argsOf(text: string, index: number): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UnsupportedError(`messages.${index}`, 'LangChain accepts only an object as the input of a tool call');
}

function ofAnthropic(request: AnthropicRequest): LangChainRequest {
  const { messages, system, model, max_tokens: maxTokens, output_config, ...invocationKwargs } = request;
  const made: LangChainMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
  for (const { role, content } of messages) made.push({ role, content });
  return {
    messages: made,
    options: {
      model,
      maxTokens,
      ...(output_config !== undefined && { outputConfig: output_config }),
      invocationKwargs,
    },
  };
}
