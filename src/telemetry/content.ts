import { type ChatMessage, type ModelInput, messagesOf } from '../domain/prompts/messages.ts';
import type { ModelResponse } from '../models/model-call.ts';

// Messages as JSON in the format of the attributes `gen_ai.input.messages` and `gen_ai.output.messages`.

/** Maximum characters of an attribute's texts. At most some thousand spans are queued, so this bounds their memory. */
const MAX_CHARS = 32 * 1024;
/** Maximum parts of an attribute: a prompt can have hundreds of thousands. */
const MAX_PARTS = 500;

type Part = Record<string, unknown>;

/** Truncates texts when the limit is reached. */
class Room {
  #chars = MAX_CHARS;
  #parts = MAX_PARTS;

  text(text: string): string {
    const kept = text.slice(0, this.#chars).toWellFormed();
    this.#chars -= kept.length;
    return kept;
  }

  /** A value that cannot be truncated is left out. */
  value(value: unknown): unknown {
    const { length } = JSON.stringify(value) ?? '';
    if (length > this.#chars) return '[too long]';
    this.#chars -= length;
    return value;
  }

  takePart(): boolean {
    this.#parts -= 1;
    return this.#parts >= 0;
  }
}

function partOf(part: Exclude<ChatMessage['content'], string>[number], room: Room): Part {
  switch (part.type) {
    case 'text':
      return { type: 'text', content: room.text(part.text) };
    case 'tool_call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: room.value(part.input) };
    case 'tool_result':
      return { type: 'tool_call_response', id: part.id, response: room.value(part.output) };
    case 'file':
      // Bytes of files are left out: they are not readable text.
      return { type: 'file', mime_type: part.media_type, ...(part.url !== undefined && { uri: room.text(part.url) }) };
  }
}

/** The messages sent to a model. */
export function inputMessages(input: ModelInput): string {
  const room = new Room();
  const shown: { role: string; parts: Part[] }[] = [];
  for (const { role, content } of messagesOf(input)) {
    const given = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const parts = [];
    for (const part of given) {
      if (!room.takePart()) break;
      parts.push(partOf(part, room));
    }
    if (parts.length === 0) break;
    shown.push({ role, parts });
  }
  return JSON.stringify(shown);
}

/** The message returned by a model. */
export function outputMessages({ output, toolCalls, finishReason }: ModelResponse): string {
  const room = new Room();
  const parts: Part[] = output === '' ? [] : [{ type: 'text', content: room.text(output) }];
  for (const { id, name, input } of toolCalls)
    if (room.takePart()) parts.push({ type: 'tool_call', id, name, arguments: room.value(input) });
  return JSON.stringify([{ role: 'assistant', parts, finish_reason: finishReason }]);
}
