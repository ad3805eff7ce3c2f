import { z } from 'zod';
import {
  type AssistantMessage as AssistantChatMessage,
  type AssistantPart,
  type ChatMessage,
  MAX_RENDERED_CHARS,
  ReasoningDetails,
  ToolCallId,
  ToolName,
} from '../../domain/prompts/messages.ts';
import { cacheMark, lastMark, MAX_FILLED_MESSAGES } from '../../domain/prompts/prompt.ts';
import { MAX_TOOLS } from '../../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { findLongNumber } from '../../domain/text/json-digits.ts';
import { insaneParts } from '../../domain/text/json-faults.ts';
import { shortList } from '../../domain/text/json-object.ts';
import {
  AssistantContent,
  CacheControlField,
  joinedText,
  SpeakerName,
  TextContent,
  UserContent,
  withMark,
} from './content-schema.ts';

const Reasoning = z.string('must be a string').max(MAX_RENDERED_CHARS).nullish();
const ofEachMessage = { name: SpeakerName, cache_control: CacheControlField };

/** Drops empty fields. */
const given = <Fields extends Record<string, string | null | undefined>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, text]) => text)) as { [Name in keyof Fields]?: string };

/** JSON in a string, the way models write tool input. */
export const Arguments = z
  .string('must be a string')
  .transform((text, context): JsonValue => {
    if (text.trim() === '') return {};
    try {
      const value: JsonValue = JSON.parse(text);
      const [insane] = insaneParts(value);
      // Numbers too long for a double stay in the text that the model wrote.
      if (insane === undefined) return findLongNumber(text) === undefined ? value : text;
      context.addIssue({ code: 'custom', message: `has an unsupported value: ${insane.message}` });
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON in a string' });
    }
    return z.NEVER;
  })
  .meta({ example: '{"city":"Paris"}' });

const FunctionCall = z
  .strictObject({
    id: ToolCallId,
    type: z.literal('function', 'must be "function"'),
    function: z.strictObject({ name: ToolName, arguments: Arguments }),
    // Left over when a client assembles the message from stream deltas.
    index: z.int().optional(),
    cache_control: CacheControlField,
  })
  .transform(
    ({ id, function: { name, arguments: input }, cache_control }): AssistantPart => ({
      type: 'tool_call',
      id,
      name,
      input,
      ...cacheMark(cache_control),
    }),
  );

const SystemMessage = z
  .strictObject({ role: z.literal(['system', 'developer']), content: TextContent, ...ofEachMessage })
  .transform(
    ({ content, name, cache_control }): ChatMessage => ({
      role: 'system',
      content: withMark(content, cache_control),
      ...given({ name }),
    }),
  );

const UserMessage = z.strictObject({ role: z.literal('user'), content: UserContent, ...ofEachMessage }).transform(
  ({ content, name, cache_control }): ChatMessage => ({
    role: 'user',
    content: withMark(content, cache_control),
    ...given({ name }),
  }),
);

/** Also accepts the `message` of a response, from any provider. */
const AssistantMessage = z
  .strictObject({
    role: z.literal('assistant'),
    content: AssistantContent.nullish(),
    refusal: z.string('must be a string').nullish(),
    tool_calls: shortList(FunctionCall, 'tool calls', { max: MAX_TOOLS }).nullish(),
    annotations: z.array(z.unknown()).nullish().meta({ description: 'Ignored.' }),
    audio: z.null('is not supported').optional(),
    function_call: z.null('is not supported: use tool_calls').optional(),
    ...ofEachMessage,
    reasoning_content: Reasoning.meta({ description: 'Sent back to servers that accept it.' }),
    reasoning: Reasoning.meta({ description: 'Another name for `reasoning_content`.' }),
    reasoning_details: ReasoningDetails.nullish(),
  })
  .transform(
    ({ content, refusal, tool_calls: toolCalls, name, cache_control, ...thought }, context): AssistantChatMessage => {
      const details = thought.reasoning_details ?? [];
      const others = {
        ...given({ name, reasoning_content: thought.reasoning_content ?? thought.reasoning }),
        ...(details.length > 0 && { reasoning_details: details }),
      };
      const said = content ?? refusal ?? undefined;
      const calls = toolCalls ?? [];
      if (calls.length === 0 && said !== undefined)
        return { role: 'assistant', content: withMark(said, cache_control), ...others };
      if (calls.length === 0) {
        context.addIssue({ code: 'custom', message: 'must have content or tool_calls', path: ['content'] });
        return z.NEVER;
      }
      const texts: AssistantPart[] = typeof said === 'string' ? [{ type: 'text', text: said }] : (said ?? []);
      const parts = [...texts.filter((part) => part.type !== 'text' || part.text !== ''), ...calls];
      return { role: 'assistant', content: withMark(parts, cache_control), ...others };
    },
  );

const ToolMessage = z.strictObject({
  role: z.literal('tool'),
  content: TextContent,
  tool_call_id: ToolCallId,
  name: z.string().nullish().meta({ description: 'Ignored: the tool call determines the tool.' }),
  cache_control: CacheControlField,
});

const Message = z.discriminatedUnion(
  'role',
  [SystemMessage, UserMessage, AssistantMessage, ToolMessage],
  'must be system, developer, user, assistant or tool',
);

/** Limit for all messages together, including tool calls, because checking each part takes time. */
export const MAX_PARTS_TOGETHER = 10_000;

function partsIn(messages: unknown): number {
  let parts = 0;
  for (const message of Array.isArray(messages) ? messages : []) {
    const { content, tool_calls: toolCalls } = Object(message);
    for (const list of [content, toolCalls]) if (Array.isArray(list)) parts += list.length;
  }
  return parts;
}

const MessageList = shortList(Message, 'messages', { max: MAX_FILLED_MESSAGES });
const BoundedList = z.preprocess((messages, context) => {
  if (partsIn(messages) <= MAX_PARTS_TOGETHER) return messages;
  context.addIssue({
    code: 'custom',
    message: `must have at most ${MAX_PARTS_TOGETHER} parts and tool calls together`,
  });
  return z.NEVER;
}, MessageList);

/** Converts messages from OpenAI's format. A tool result takes the name of the tool that was called. */
export const Messages = BoundedList.transform((messages, context): ChatMessage[] => {
  const called = new Map<string, string>();
  return messages.map((message, index): ChatMessage => {
    if (message.role === 'assistant' && typeof message.content !== 'string')
      for (const part of message.content) if (part.type === 'tool_call') called.set(part.id, part.name);
    if (!('tool_call_id' in message)) return message;
    const { tool_call_id: id, content, cache_control } = message;
    const name = called.get(id);
    if (name !== undefined)
      return {
        role: 'tool',
        content: [
          {
            type: 'tool_result',
            id,
            name,
            output: joinedText(content),
            ...cacheMark(lastMark(content)),
            ...cacheMark(cache_control),
          },
        ],
      };
    context.addIssue({
      code: 'custom',
      message: 'does not match a tool call of an earlier assistant message',
      path: [index, 'tool_call_id'],
    });
    return z.NEVER;
  });
});
