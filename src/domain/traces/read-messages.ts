import { z } from 'zod';
import { ChatMessage, type ToolCall } from '../prompts/messages.ts';
import { isObject, type JsonValue } from '../text/json.ts';
import { storableText } from '../text/storable-text.ts';
import type { JsonTexts } from './json-texts.ts';

// Messages in the forms of OpenTelemetry, OpenAI (chat completions and responses), Anthropic, the AI SDK, LangChain and OpenInference, which
// use different names. Values in other forms become texts.

/** Longer lists stay JSON. */
const MAX_MESSAGES = 1_000;
const Messages = z.array(ChatMessage).max(MAX_MESSAGES);

type Raw = Record<string, unknown>;
type Part = Exclude<ChatMessage['content'], string>[number];
/** A part as read; reasoning is not a part of a message. */
type ReadPart = Part | { type: 'reasoning'; text: string };

const ROLES: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  aimessagechunk: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** Kinds of parts, by their names. */
const PARTS: Readonly<Record<string, 'text' | 'call' | 'result' | 'reasoning' | 'file'>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'text',
  tool_call: 'call',
  'tool-call': 'call',
  tool_use: 'call',
  function: 'call',
  function_call: 'call',
  tool_call_response: 'result',
  'tool-result': 'result',
  tool_result: 'result',
  function_call_output: 'result',
  reasoning: 'reasoning',
  thinking: 'reasoning',
  image: 'file',
  image_url: 'file',
  input_image: 'file',
  file: 'file',
  blob: 'file',
  uri: 'file',
};

const first = (raw: Raw, names: readonly string[]): unknown =>
  names.map((name) => raw[name]).find((value) => value !== undefined && value !== null);
const firstText = (raw: Raw, names: readonly string[]): string | undefined => {
  const value = first(raw, names);
  return typeof value === 'string' && value !== '' ? storableText(value) : undefined;
};
const unwrapped = (raw: unknown, name: string): unknown => (isObject(raw) && isObject(raw[name]) ? raw[name] : raw);

interface Context {
  texts: JsonTexts;
  /** Names of called tools by call id, because results have only the id. */
  names: Map<string, string>;
}

function callOf(raw: Raw, context: Context): ReadPart {
  const called = isObject(raw['function']) ? raw['function'] : raw;
  const id = firstText(raw, ['id', 'toolCallId', 'call_id', 'tool_call_id']) ?? `call_${context.names.size + 1}`;
  const name = firstText(called, ['name', 'toolName']) ?? '';
  context.names.set(id, name);
  return {
    type: 'tool_call',
    id,
    name,
    input: context.texts.parsed((first(called, ['arguments', 'input', 'args']) ?? {}) as JsonValue),
  };
}

/** LiteLLM puts results as texts among the parts. */
function textIn(parts: unknown): string | null {
  if (!Array.isArray(parts)) return null;
  return parts.map((part) => (isObject(part) ? (firstText(part, ['content', 'text']) ?? '') : '')).join('');
}

function resultOf(raw: Raw, context: Context): ReadPart {
  const id =
    firstText(raw, ['id', 'toolCallId', 'tool_call_id', 'tool_use_id', 'call_id']) ?? `call_${context.names.size}`;
  const given = first(raw, ['response', 'result', 'output', 'content']) ?? textIn(raw['parts']);
  // The AI SDK wraps it with its type.
  const output = isObject(given) && 'value' in given && typeof given['type'] === 'string' ? given['value'] : given;
  const name = firstText(raw, ['name', 'toolName']) ?? context.names.get(id) ?? 'tool';
  return { type: 'tool_result', id, name, output: context.texts.parsed(output as JsonValue) };
}

function fileOf(raw: Raw): ReadPart | undefined {
  const inner = unwrapped(raw['image_url'] ?? raw['image'] ?? raw['source'], 'image');
  const source = { ...raw, ...(isObject(inner) ? inner : typeof inner === 'string' ? { url: inner } : {}) };
  const address = firstText(source, ['url', 'uri', 'file_url']);
  const [, inline, bytes] = /^data:([^;,]+);base64,(.*)$/s.exec(address ?? '') ?? [];
  const data = bytes ?? firstText(source, ['data', 'content']);
  const mediaType = inline ?? firstText(source, ['mime_type', 'mediaType', 'media_type', 'mimeType']);
  const media_type = mediaType ?? 'image/*';
  if (data !== undefined) return { type: 'text', text: `[${media_type}, ${data.length} characters of base64]` };
  return address === undefined ? undefined : { type: 'text', text: `[${media_type}: ${address}]` };
}

function partOf(given: unknown, context: Context): ReadPart | undefined {
  if (typeof given === 'string') return { type: 'text', text: given };
  const raw = unwrapped(unwrapped(given, 'message_content'), 'tool_call');
  if (!isObject(raw)) return undefined;
  switch (PARTS[firstText(raw, ['type', 'kind', 'part_kind']) ?? ('text' in raw ? 'text' : '')]) {
    case 'text': {
      const text = first(raw, ['text', 'content', 'refusal']);
      return typeof text === 'string' ? { type: 'text', text } : undefined;
    }
    case 'call':
      return callOf(raw, context);
    case 'result':
      return resultOf(raw, context);
    case 'reasoning':
      return { type: 'reasoning', text: firstText(raw, ['text', 'content', 'thinking']) ?? '' };
    case 'file':
      return fileOf(raw);
    default:
      return undefined;
  }
}

/** @returns undefined if one of them has an unknown form */
function partsOf(raw: Raw, role: ChatMessage['role'], context: Context): ReadPart[] | undefined {
  if (!['parts', 'contents', 'content', 'tool_calls', 'function_call'].some((name) => name in raw)) return undefined;
  const content = context.texts.parsed((first(raw, ['parts', 'contents', 'content']) ?? []) as JsonValue);
  // A tool's result can be any JSON, even a text that looks like JSON.
  const isResult = role === 'tool' && !(Array.isArray(raw['parts'] ?? content) && hasResult(raw['parts'] ?? content));
  if (isResult) return [resultOf({ ...raw, id: firstText(raw, ['tool_call_id', 'id']) }, context)];
  const text = raw['content'];
  const given = Array.isArray(content) ? content : [typeof text === 'string' ? text : JSON.stringify(content)];
  const called = isObject(raw['function_call']) ? [raw['function_call']] : [];
  const calls = context.texts.parsed((raw['tool_calls'] ?? called) as JsonValue);
  const parts = [
    ...given.map((part) => partOf(part, context)),
    ...(Array.isArray(calls) ? calls : []).map((call) => {
      const inner = unwrapped(call, 'tool_call');
      return isObject(inner) ? callOf(inner, context) : undefined;
    }),
    ...[firstText(raw, ['reasoning', 'reasoning_content'])].flatMap((text) =>
      text === undefined ? [] : [{ type: 'reasoning' as const, text }],
    ),
  ];
  return parts.every((part) => part !== undefined) ? withoutRepeatedCalls(parts) : undefined;
}

const hasResult = (parts: unknown): boolean =>
  Array.isArray(parts) && parts.some((part) => isObject(part) && PARTS[String(part['type'])] === 'result');

/** Some forms repeat the calls among the parts in a separate list. */
function withoutRepeatedCalls(parts: readonly ReadPart[]): ReadPart[] {
  const ids = new Set<string>();
  return parts.filter((part) => part.type !== 'tool_call' || (!ids.has(part.id) && ids.add(part.id)));
}

const contentOf = (parts: readonly Part[]): string | Part[] => {
  const [only] = parts;
  if (only === undefined) return '';
  return parts.length === 1 && only.type === 'text' ? only.text : [...parts];
};

/** Results become separate messages. @returns undefined if the form is unknown */
function messagesOf(given: unknown, context: Context): unknown[] | undefined {
  const outer = ['message', 'kwargs', 'data'].reduce(unwrapped, given);
  if (!isObject(outer)) return undefined;
  const kind = PARTS[String(outer['type'])];
  const isItem = kind === 'call' || kind === 'result' || kind === 'reasoning';
  if (isItem) {
    const part = partOf(outer, context);
    return part && split('assistant', [part], {});
  }
  const isCall = 'tool_calls' in outer || 'function_call' in outer;
  const role = ROLES[(firstText(outer, ['role', 'type', 'kind']) ?? (isCall ? 'assistant' : '')).toLowerCase()];
  const parts = role && partsOf(outer, role, context);
  return role && parts && split(role, parts, outer);
}

function split(role: ChatMessage['role'], parts: readonly ReadPart[], raw: Raw): unknown[] {
  const results = parts.filter(({ type }) => type === 'tool_result');
  const others = parts.filter((part): part is Part => part.type !== 'tool_result' && part.type !== 'reasoning');
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('\n');
  const speaker = role === 'tool' ? undefined : firstText(raw, ['name']);
  const messages: unknown[] = results.length === 0 ? [] : [{ role: 'tool', content: results }];
  if (others.length > 0 || results.length === 0)
    messages.push({
      role: role === 'tool' ? 'user' : role,
      content: contentOf(others),
      ...(speaker !== undefined && { name: speaker.slice(0, 200) }),
      ...(reasoning !== '' && role === 'assistant' && { reasoning_content: reasoning }),
    });
  return messages;
}

/** A list of messages, on its own or as a member of a call's arguments. */
function listIn(raw: JsonValue, texts: JsonTexts): unknown[] | undefined {
  if (Array.isArray(raw)) return raw.length === 1 && Array.isArray(raw[0]) ? raw[0] : raw;
  if (!isObject(raw)) return undefined;
  if (['role', 'parts', 'content', 'tool_calls', 'kwargs'].some((name) => name in raw))
    return ['role' in raw || 'kwargs' in raw ? raw : { role: 'assistant', ...raw }];
  const inner = texts.parsed(
    (first(raw, ['messages', 'input', 'prompt', 'choices', 'generations']) ?? null) as JsonValue,
  );
  const list = typeof inner === 'string' ? [{ role: 'user', content: inner }] : inner;
  if (!Array.isArray(list)) return undefined;
  const system = texts.parsed((first(raw, ['system', 'instructions']) ?? []) as JsonValue);
  const isEmpty = Array.isArray(system) && system.length === 0;
  return [
    ...(isEmpty ? [] : [{ role: 'system', content: system }]),
    ...(list.length === 1 && Array.isArray(list[0]) ? list[0] : list),
  ];
}

/** Merges the entries of one answer: reasoning, text, calls. */
function merged(messages: readonly unknown[], given: readonly unknown[]): unknown[] {
  if (!given.some((item) => isObject(item) && PARTS[String(item['type'])] !== undefined)) return [...messages];
  const result: Raw[] = [];
  for (const message of messages) {
    const before = result.at(-1);
    if (!isObject(message)) continue;
    if (before?.['role'] !== 'assistant' || message['role'] !== 'assistant') result.push(message);
    else {
      const parts = [before, message].flatMap(({ content }) =>
        Array.isArray(content) ? content : content === '' ? [] : [{ type: 'text', text: content }],
      );
      result[result.length - 1] = { ...before, ...message, content: parts.length === 0 ? '' : parts };
    }
  }
  return result;
}

/** @returns undefined if one has an unknown form, or there are none */
export function readMessages(value: JsonValue, texts: JsonTexts): ChatMessage[] | undefined {
  const list = listIn(texts.parsed(value), texts);
  if (list === undefined || list.length === 0 || list.length > MAX_MESSAGES) return undefined;
  const context: Context = { texts, names: new Map() };
  const read = list.map((item) => messagesOf(item, context));
  if (!read.every((messages) => messages !== undefined)) return undefined;
  return Messages.safeParse(merged(read.flat(), list)).data;
}

/** A model's answer. */
export interface Answer {
  text: string | null;
  toolCalls: ToolCall[];
  reasoning: string | null;
}

export function answerOf({ content, ...message }: ChatMessage): Answer {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const toolCalls = parts.flatMap((part) =>
    part.type === 'tool_call' ? [{ id: part.id, name: part.name, input: part.input }] : [],
  );
  const reasoning = 'reasoning_content' in message ? (message.reasoning_content ?? null) : null;
  return { text: text === '' && toolCalls.length > 0 ? null : text, toolCalls, reasoning };
}
