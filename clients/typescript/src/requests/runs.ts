import { findLongNumber } from '../../../../src/domain/prompt-rules/number-digits.ts';
import type { ToolCall } from '../generated/types.gen.ts';
import type { Run } from '../record.ts';
import { type About, recall, textOf } from './call.ts';

// Provider responses, converted for `pms.record`.

/** A response of OpenAI's chat completions, or of a compatible server. */
export interface OpenAIResponse {
  choices: readonly {
    finish_reason?: string | null;
    message: {
      content?: string | null;
      refusal?: string | null;
      tool_calls?: readonly { id: string; function?: { name: string; arguments: string } }[] | null;
    };
  }[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number | null } | null;
    completion_tokens_details?: { reasoning_tokens?: number | null } | null;
  } | null;
}

/** A response of Anthropic's messages. */
export interface AnthropicResponse {
  content: readonly { type: string; text?: string; id?: string; name?: string; input?: unknown }[];
  stop_reason: string | null;
  usage?: {
    input_tokens: number;
    output_tokens: number;
    cache_read_input_tokens?: number | null;
    cache_creation_input_tokens?: number | null;
    output_tokens_details?: { thinking_tokens?: number | null } | null;
  } | null;
}

interface Answer {
  output: string;
  toolCalls: ToolCall[];
  finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';
  tokens?: Run['tokens'] | undefined;
}

/**
 * Converts a request and its response to a run: `pms.record(fromOpenAI(response, request))`. @throws PmsError for a request from
 * elsewhere
 */
export function fromOpenAI(response: OpenAIResponse, request: object): Run {
  return runOf(recall(request), openAIAnswer(response));
}

export function openAIAnswer({ choices, usage }: OpenAIResponse): Answer {
  const [choice] = choices;
  const { content, refusal, tool_calls } = choice?.message ?? {};
  const toolCalls = (tool_calls ?? []).flatMap(({ id, function: called }) =>
    called === undefined ? [] : [{ id, name: called.name, input: parsed(called.arguments) }],
  );
  return {
    output: content ?? refusal ?? '',
    toolCalls,
    finishReason: reasonOf(choice?.finish_reason, toolCalls),
    tokens: usage ? openAITokens(usage) : undefined,
  };
}

function openAITokens(usage: NonNullable<OpenAIResponse['usage']>): Run['tokens'] {
  const { prompt_tokens: input, completion_tokens, total_tokens } = usage;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  // Some servers count reasoning outside `completion_tokens`, as the total reveals.
  const isOnTop = reasoning > 0 && total_tokens === input + completion_tokens + reasoning;
  const output = completion_tokens + (isOnTop ? reasoning : 0);
  return tokensOf(input, output, usage.prompt_tokens_details?.cached_tokens, reasoning);
}

/** The same for Anthropic. @throws PmsError for a request from elsewhere */
export function fromAnthropic(response: AnthropicResponse, request: object): Run {
  const about = recall(request);
  return runOf(about, anthropicAnswer(response, about.jsonTool));
}

export function anthropicAnswer(
  { content, stop_reason, usage }: AnthropicResponse,
  jsonTool: string | undefined,
): Answer {
  const used = content.filter(({ type }) => type === 'tool_use');
  const json = used.find(({ name }) => jsonTool !== undefined && name === jsonTool);
  const toolCalls = used
    .filter((each) => each !== json)
    .map(({ id = '', name = '', input }) => ({ id, name, input: input ?? {} }));
  const text = content.map(({ type, text: part = '' }) => (type === 'text' ? part : '')).join('');
  return {
    output: json === undefined ? text : JSON.stringify(json.input),
    toolCalls,
    finishReason: json === undefined || toolCalls.length > 0 ? reasonOf(stop_reason, toolCalls) : 'stop',
    tokens: usage ? anthropicTokens(usage) : undefined,
  };
}

function anthropicTokens(usage: NonNullable<AnthropicResponse['usage']>): Run['tokens'] {
  const { input_tokens: input, cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
  const total = input + (read ?? 0) + (written ?? 0);
  return tokensOf(total, usage.output_tokens, read, usage.output_tokens_details?.thinking_tokens);
}

/** The result of `generateText`, the final event of `streamText` (`onFinish`), or its awaited properties. */
export interface AISDKResponse {
  text: string;
  toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[];
  finishReason: string;
  usage: AISDKUsage;
  /** For all steps. */
  totalUsage?: AISDKUsage;
}
interface AISDKUsage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  inputTokenDetails?: { cacheReadTokens?: number | undefined };
  outputTokenDetails?: { reasoningTokens?: number | undefined };
}

/** The same for the AI SDK. @throws PmsError for a request from elsewhere */
export function fromAISDK(
  { text, toolCalls, finishReason, usage, totalUsage = usage }: AISDKResponse,
  request: object,
): Run {
  const calls = toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input }));
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = totalUsage;
  return runOf(recall(request), {
    output: text,
    toolCalls: calls,
    finishReason: reasonOf(finishReason, calls),
    tokens:
      inputTokens === undefined || outputTokens === undefined
        ? undefined
        : tokensOf(inputTokens, outputTokens, inputTokenDetails?.cacheReadTokens, outputTokenDetails?.reasoningTokens),
  });
}

/** The result of `invoke`. */
export interface LangChainResponse {
  content: string | readonly { type: string }[];
  tool_calls?: readonly { id?: string | undefined; name: string; args: Record<string, unknown> }[];
  usage_metadata?:
    | {
        input_tokens: number;
        output_tokens: number;
        input_token_details?: { cache_read?: number };
        output_token_details?: { reasoning?: number };
      }
    | undefined;
  response_metadata: Record<string, unknown>;
}

/** The same for LangChain. @throws PmsError for a request from elsewhere */
export function fromLangChain(response: LangChainResponse, request: object): Run {
  const about = recall(request);
  const { content, tool_calls = [], usage_metadata: usage, response_metadata: metadata } = response;
  const json = tool_calls.find(({ name }) => about.jsonTool !== undefined && name === about.jsonTool);
  const calls = tool_calls
    .filter((each) => each !== json)
    .map(({ id = '', name, args }) => ({ id, name, input: args }));
  const text = typeof content === 'string' ? content : textOf(content);
  const reason =
    json !== undefined && calls.length === 0 ? 'stop' : (metadata['finish_reason'] ?? metadata['stop_reason']);
  return runOf(about, {
    output: json === undefined ? text : JSON.stringify(json.args),
    toolCalls: calls,
    finishReason: reasonOf(typeof reason === 'string' ? reason : undefined, calls),
    tokens:
      usage &&
      tokensOf(
        // Omits a count of 0.
        usage.input_tokens ?? 0,
        usage.output_tokens ?? 0,
        usage.input_token_details?.cache_read,
        usage.output_token_details?.reasoning,
      ),
  });
}

const REASONS: Readonly<Record<string, Answer['finishReason']>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  tool_calls: 'tool_calls',
  'tool-calls': 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
};

export function reasonOf(reason: string | null | undefined, toolCalls: readonly unknown[]): Answer['finishReason'] {
  const known = REASONS[reason ?? ''] ?? 'other';
  // Some servers end a response with tool calls this way, and so does OpenAI when a tool was named.
  return known === 'stop' && toolCalls.length > 0 ? 'tool_calls' : known;
}

export function tokensOf(
  input: number,
  output: number,
  cached: number | null | undefined,
  reasoning: number | null | undefined,
): NonNullable<Run['tokens']> {
  return {
    input,
    output,
    cached_input: Math.min(cached ?? 0, input),
    reasoning: Math.min(reasoning ?? 0, output),
  };
}

/** Parses the input of a tool. It stays a string if it is not JSON or a number would lose digits, as in the service. */
export function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  if (findLongNumber(text) !== undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Follows the service's records: a withheld response is an error. */
export function runOf(about: About, { output, toolCalls, finishReason, tokens }: Answer): Run {
  const { prompt, variables, input, model, startedAt } = about;
  return {
    // A fallback is not a prompt of the service.
    ...(!prompt.isFallback && {
      prompt_name: prompt.name,
      prompt_version: prompt.version,
      release: prompt.release ?? null,
    }),
    model,
    variables,
    input,
    output: finishReason === 'content_filter' ? null : output,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    // Some packages report zeros for a stream without requested usage: every call uses some tokens.
    ...(tokens !== undefined && tokens.input + tokens.output > 0 && { tokens }),
    ...(finishReason === 'content_filter' && {
      error: { code: 'content_filtered', message: output || 'The provider withheld the response.' },
    }),
    metadata: { finish_reason: finishReason },
    started_at: startedAt,
    finished_at: new Date(),
  };
}
