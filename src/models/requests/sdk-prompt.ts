import {
  type AssistantPart,
  type CacheControl,
  type ChatMessage,
  textOf,
  type UserPart,
} from '../../domain/prompts/messages.ts';
import { textsUpToMarks } from '../../domain/prompts/prompt.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { findLongNumber, parseKeepingDigits } from '../../domain/text/json-digits.ts';
import type { SdkOptions } from './language-model.ts';

type SdkMessage = SdkOptions['prompt'][number];
type ToolResult = Extract<ChatMessage, { role: 'tool' }>['content'][number];
export type FilePart = Extract<UserPart, { type: 'file' }>;

/** Converts messages to the form of the providers' SDKs. */
export function sdkPrompt(messages: readonly ChatMessage[]): SdkOptions['prompt'] {
  return messages.map(sdkMessage);
}

function sdkMessage(message: ChatMessage): SdkMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: textOf(message) };
    case 'user':
      return { role: 'user', content: partsOf(message.content).map(sdkUserPart) };
    case 'assistant':
      return { role: 'assistant', content: partsOf(message.content).map(sdkAssistantPart) };
    case 'tool':
      return { role: 'tool', content: message.content.map(sdkToolResult) };
  }
}

function partsOf<Part>(content: string | Part[]): (Part | { type: 'text'; text: string })[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function sdkUserPart(part: UserPart) {
  return part.type === 'text' ? textPart(part) : sdkFile(part);
}

function sdkAssistantPart(part: AssistantPart) {
  if (part.type === 'text') return textPart(part);
  if (part.type === 'file') return sdkFile(part);
  const { id, name, input, cache_control } = part;
  return {
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: toolInputOf(input),
    ...sdkMark(cache_control),
  };
}

/** JSON that stayed a text because a number would have lost digits: providers that accept only objects get it with all digits. */
export function toolInputOf(input: JsonValue): JsonValue {
  if (typeof input !== 'string' || findLongNumber(input) === undefined) return input;
  try {
    return parseKeepingDigits(input);
  } catch {
    return input;
  }
}

function textPart({ text, cache_control }: { text: string; cache_control?: CacheControl | undefined }) {
  return { type: 'text' as const, text, ...sdkMark(cache_control) };
}

/** A mark for Anthropic's cache; other SDKs ignore it. */
export function sdkMark(mark: CacheControl | undefined) {
  return mark === undefined ? {} : { providerOptions: { anthropic: { cacheControl: { ...mark } } } };
}

/** A system message, split into one part per cache mark. */
export const sdkSystem = (message: Extract<ChatMessage, { role: 'system' }>): SdkMessage[] =>
  textsUpToMarks(message).map(({ text, cache_control }) => ({
    role: 'system',
    content: text,
    ...sdkMark(cache_control),
  }));

function sdkFile({ media_type, filename, data, url = '', cache_control }: FilePart) {
  return {
    type: 'file' as const,
    mediaType: media_type,
    ...(filename !== undefined && { filename }),
    data: data === undefined ? { type: 'url' as const, url: new URL(url) } : { type: 'data' as const, data },
    ...sdkMark(cache_control),
  };
}

/** Sends a text unchanged, anything else as JSON. */
function sdkToolResult({ id, name, output, cache_control }: ToolResult) {
  return {
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: name,
    output:
      typeof output === 'string' ? { type: 'text' as const, value: output } : { type: 'json' as const, value: output },
    ...sdkMark(cache_control),
  };
}
