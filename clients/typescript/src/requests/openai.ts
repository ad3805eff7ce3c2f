import { withCacheMarks } from '../../../../src/domain/prompt-rules/cache-marks.ts';
import type { ChatMessage, FilePart, ResponseSchema, Tool } from '../generated/types.gen.ts';
import type { LoadedPrompt, Variables } from '../prompts/loaded-prompt.ts';
import {
  asText,
  type Call,
  type CallOptions,
  decoded,
  given,
  isOneToolAtATime,
  partsOf,
  refuse,
  remember,
  stopsOf,
  textOf,
  toCall,
  typeOf,
  UnsupportedError,
  withProviderOptions,
} from './call.ts';
import { type OpenAITraits, openAITraits } from './models.ts';

type OpenAITextPart = { type: 'text'; text: string };
export type OpenAIUserPart =
  | OpenAITextPart
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { filename: string; file_data: string } };
export interface OpenAIToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}
export type OpenAIMessage =
  | { role: 'system' | 'developer'; content: string; name?: string }
  | { role: 'user'; content: string | OpenAIUserPart[]; name?: string }
  | {
      role: 'assistant';
      content: string | null;
      tool_calls?: OpenAIToolCall[];
      name?: string;
      /** For servers that accept reasoning in requests. */
      reasoning_content?: string;
      reasoning_details?: Record<string, unknown>[];
    }
  | { role: 'tool'; tool_call_id: string; content: string };
export interface OpenAITool {
  type: 'function';
  function: { name: string; description?: string; parameters: Record<string, unknown>; strict?: boolean };
}
export type OpenAIToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } };
export type OpenAIResponseFormat =
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      json_schema: { name: string; description?: string; schema: Record<string, unknown>; strict?: boolean };
    };

/** The parameters of `openai.chat.completions.create`. The prompt's `provider_options` can add others. */
export interface OpenAIRequest {
  model: string;
  messages: OpenAIMessage[];
  tools?: OpenAITool[];
  tool_choice?: OpenAIToolChoice;
  parallel_tool_calls?: boolean;
  temperature?: number;
  top_p?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
  stop?: string[];
  seed?: number;
  frequency_penalty?: number;
  presence_penalty?: number;
  response_format?: OpenAIResponseFormat;
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  verbosity?: 'low' | 'medium' | 'high';
}

/** Differences between servers with chat completions. */
interface Dialect {
  provider: 'openai' | 'openai-compatible';
  traits: OpenAITraits;
}

const PLAIN: OpenAITraits = { reasons: false, samplesUnreasoned: false, toolsUnreasoned: false, searches: false };

/**
 * Converts a prompt to a request for OpenAI's chat completions, or a compatible server:
 * `openai.chat.completions.create(request)`. It equals the request of the service.
 * @throws VariablesError naming the variables that are missing or invalid
 * @throws UnsupportedError naming the field that OpenAI does not support
 */
export function toOpenAI(prompt: LoadedPrompt, variables: Variables = {}, options: CallOptions = {}): OpenAIRequest {
  const call = toCall(prompt, variables, options, ['openai', 'openai-compatible']);
  return remember(openAIRequest(call), call.about);
}

export function openAIRequest(call: Call): OpenAIRequest {
  const isOpenAI = call.provider === 'openai';
  const dialect: Dialect = {
    provider: isOpenAI ? 'openai' : 'openai-compatible',
    traits: isOpenAI ? openAITraits(call.model) : PLAIN,
  };
  const request = {
    model: call.model,
    messages: call.messages.flatMap((message, index) => messagesOf(message, dialect, `messages.${index}.content`)),
    ...toolFields(call),
    ...parameterFields(call, dialect),
  };
  return withProviderOptions(isOpenAI ? request : withCacheMarks(request, call), dialect.provider, call);
}

function messagesOf(message: ChatMessage, dialect: Dialect, path: string): OpenAIMessage[] {
  const { role, content } = message;
  const named = given({ name: 'name' in message ? message.name : undefined });
  switch (role) {
    case 'system':
      return [{ role: dialect.traits.reasons ? 'developer' : 'system', content: textOf(partsOf(content)), ...named }];
    case 'user': {
      const parts = partsOf(content);
      const [first] = parts;
      if (parts.length === 1 && first?.type === 'text') return [{ role, content: first.text, ...named }];
      const made = parts.map((part, index): OpenAIUserPart => {
        if (part.type === 'file') return filePart(part, dialect, `${path}.${index}`, index);
        return { type: 'text', text: part.text };
      });
      return [{ role, content: made, ...named }];
    }
    case 'assistant': {
      const parts = partsOf(content);
      const file = parts.findIndex(({ type }) => type === 'file');
      if (file !== -1)
        throw new UnsupportedError(`${path}.${file}`, 'OpenAI does not accept files in assistant messages');
      const text = textOf(parts as { type: string; text?: string }[]);
      const calls = parts.flatMap((part): OpenAIToolCall[] => {
        if (part.type !== 'tool_call') return [];
        return [{ id: part.id, type: 'function', function: { name: part.name, arguments: asText(part.input) } }];
      });
      const isOpen = dialect.provider === 'openai-compatible';
      const { reasoning_content, reasoning_details } = message;
      const others = { ...named, ...(isOpen && given({ reasoning_content, reasoning_details })) };
      if (calls.length === 0) return [{ role, content: text, ...others }];
      return [{ role, content: text || null, tool_calls: calls, ...others }];
    }
    case 'tool':
      return content.map(({ id, output }) => ({ role, tool_call_id: id, content: asText(output) }));
  }
}

const AUDIO: Readonly<Record<string, 'wav' | 'mp3'>> = { 'audio/wav': 'wav', 'audio/mpeg': 'mp3', 'audio/mp3': 'mp3' };

function filePart(file: FilePart, { provider }: Dialect, path: string, index: number): OpenAIUserPart {
  const { media_type, filename, data, url } = file;
  const [kind] = media_type.split('/', 1);
  const address = () => url ?? `data:${typeOf(file, path)};base64,${data}`;
  if (kind === 'image') return { type: 'image_url', image_url: { url: address() } };
  const isOpen = provider === 'openai-compatible';
  // The types of OpenAI's package lack videos, which other servers accept.
  if (isOpen && kind === 'video')
    return { type: 'video_url', video_url: { url: address() } } as unknown as OpenAIUserPart;
  const format = AUDIO[media_type];
  if (format === undefined && media_type !== 'application/pdf' && !(isOpen && kind === 'text'))
    throw new UnsupportedError(`${path}.media_type`, `OpenAI does not accept ${media_type}`);
  if (data === undefined) throw new UnsupportedError(`${path}.url`, `OpenAI accepts ${media_type} only as data`);
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } };
  if (kind === 'text') return { type: 'text', text: decoded(data) };
  const name = filename ?? (isOpen ? 'document.pdf' : `part-${index}.pdf`);
  return { type: 'file', file: { filename: name, file_data: `data:application/pdf;base64,${data}` } };
}

function toolFields(call: Call): Pick<OpenAIRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  const { tools, toolChoice } = call;
  if (tools.length === 0) return {};
  return {
    tools: tools.map(openAITool),
    ...(toolChoice !== undefined && {
      tool_choice:
        typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } },
    }),
    ...(isOneToolAtATime(call) && { parallel_tool_calls: false }),
  };
}

function openAITool({ name, description, input_schema, strict }: Tool): OpenAITool {
  return {
    type: 'function',
    function: { name, ...given({ description }), parameters: input_schema, ...given({ strict }) },
  };
}

function parameterFields({ parameters, tools }: Call, { provider, traits }: Dialect): Partial<OpenAIRequest> {
  const { temperature, top_p, top_k, max_tokens, seed, frequency_penalty, presence_penalty } = parameters;
  const { response_format, reasoning_effort, verbosity } = parameters;
  if (provider === 'openai') {
    const effort = reasoning_effort ?? (traits.toolsUnreasoned && tools.length > 0 ? 'none' : undefined);
    if (traits.reasons && !(traits.samplesUnreasoned && effort === 'none'))
      refuse(parameters, ['temperature', 'top_p'], 'this model does not support it while it reasons');
    if (traits.reasons) refuse(parameters, ['frequency_penalty', 'presence_penalty'], 'this model does not support it');
    if (traits.searches) refuse(parameters, ['temperature'], 'this model does not support it');
  }
  const effort = reasoning_effort ?? (traits.toolsUnreasoned && tools.length > 0 ? 'none' : undefined);
  return given({
    temperature,
    top_p,
    ...(provider === 'openai-compatible' && { top_k }),
    [traits.reasons ? 'max_completion_tokens' : 'max_tokens']: max_tokens,
    stop: stopsOf(parameters),
    seed,
    frequency_penalty,
    presence_penalty,
    response_format:
      response_format?.type === 'json_schema' ? jsonFormat(response_format.json_schema) : objectFormat(response_format),
    reasoning_effort: effort,
    verbosity,
  });
}

const objectFormat = (format: { type: string } | undefined): OpenAIResponseFormat | undefined =>
  format?.type === 'json_object' ? { type: 'json_object' } : undefined;

function jsonFormat({ name = 'response', description, schema, strict = true }: ResponseSchema): OpenAIResponseFormat {
  return { type: 'json_schema', json_schema: { strict, name, ...given({ description }), schema } };
}
