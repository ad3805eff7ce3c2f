import { z } from 'zod';
import type { RequestBody } from '../requests/json-body.ts';
import { type Assembler, assignKnown } from './assembler.ts';

const ToolCallDelta = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
type ToolCallDelta = z.infer<typeof ToolCallDelta>;

const Choice = z.looseObject({
  index: z.int().default(0),
  delta: z
    .looseObject({
      tool_calls: z.array(ToolCallDelta).nullish(),
      content: z.string().nullish(),
      refusal: z.string().nullish(),
    })
    .nullish(),
  finish_reason: z.string().nullish(),
});
type Choice = z.infer<typeof Choice>;

const Chunk = z.looseObject({ choices: z.array(Choice).nullish() });

interface ToolCall {
  id: string | undefined;
  type: 'function';
  function: { name: string; arguments: string };
}

interface Message {
  fields: RequestBody;
  finishReason: string | null;
  toolCalls: ToolCall[];
  /** The call that each index stands for now. */
  byIndex: Map<number, ToolCall>;
}

/** Texts that come in pieces; the last name is what some servers call `reasoning_content`. */
const TEXTS = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);

/** @see https://platform.openai.com/docs/api-reference/chat-streaming */
export function createChatCompletionAssembler(): Assembler {
  const top: RequestBody = {};
  const messages = new Map<number, Message>();

  function addChoice({ index, delta, finish_reason }: Choice): string {
    const message = messages.get(index) ?? newMessage();
    messages.set(index, message);
    if (finish_reason) message.finishReason = finish_reason;
    const { tool_calls, ...fields } = delta ?? {};
    for (const toolCall of tool_calls ?? []) addToolCall(message, toolCall);
    for (const [name, value] of Object.entries(fields)) addField(message.fields, name, value);
    return index === 0 ? `${fields.content ?? ''}${fields.refusal ?? ''}` : '';
  }

  return {
    add(event) {
      const { choices, ...rest } = Chunk.parse(event);
      assignKnown(top, rest);
      return (choices ?? []).map(addChoice).join('');
    },
    isComplete: () => messages.get(0)?.finishReason != null,
    body: () => ({
      ...top,
      object: 'chat.completion',
      choices: [...messages].map(([index, { fields, finishReason, toolCalls }]) => ({
        index,
        finish_reason: finishReason,
        message: { role: 'assistant', ...fields, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) },
      })),
    }),
  };
}

function newMessage(): Message {
  return { fields: {}, finishReason: null, toolCalls: [], byIndex: new Map() };
}

function addField(fields: RequestBody, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  const there = fields[name];
  if (TEXTS.has(name) && typeof there === 'string' && typeof value === 'string') fields[name] = there + value;
  else if (Array.isArray(there) && Array.isArray(value)) there.push(...value);
  else fields[name] = value;
}

/** Some servers leave the index out, or give all calls the same: another id begins another call. */
function addToolCall(message: Message, { index, id, function: part }: ToolCallDelta): void {
  const last = message.toolCalls.at(-1);
  const known = index == null ? last : message.byIndex.get(index);
  let toolCall = known;
  if (toolCall === undefined || (id && toolCall.id !== undefined && toolCall.id !== id)) {
    toolCall = { id: id ?? undefined, type: 'function', function: { name: '', arguments: '' } };
    message.toolCalls.push(toolCall);
    if (index != null) message.byIndex.set(index, toolCall);
  }
  toolCall.id ??= id ?? undefined;
  toolCall.function.name ||= part?.name ?? '';
  toolCall.function.arguments += part?.arguments ?? '';
}
