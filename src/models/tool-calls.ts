import type { ToolCall } from '../domain/prompts/messages.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { findLongNumber } from '../domain/text/json-digits.ts';
import { storableJson, storableText } from '../domain/text/storable-text.ts';

type SdkPart =
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string; providerExecuted?: boolean | undefined }
  | { type: Exclude<string, 'tool-call'> };

/** The tool calls that a response requests, without those that the provider ran itself. */
export function toolCallsOf(content: readonly SdkPart[]): ToolCall[] {
  return content.flatMap((part) =>
    isToolCall(part) && part.providerExecuted !== true
      ? [{ id: storableText(part.toolCallId), name: storableText(part.toolName), input: inputOf(part.input) }]
      : [],
  );
}

function isToolCall(part: SdkPart): part is Extract<SdkPart, { toolCallId: string }> {
  return part.type === 'tool-call';
}

/**
 * The parsed input; a text that is not JSON, or JSON that is too deeply nested or has a number that would lose digits, stays a
 * string.
 */
function inputOf(text: string): JsonValue {
  if (text.trim() === '') return {};
  if (findLongNumber(text) !== undefined) return storableText(text);
  try {
    const input: JsonValue = JSON.parse(text);
    return storableJson(input);
  } catch {
    return storableText(text);
  }
}
