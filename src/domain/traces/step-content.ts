import type { ChatMessage } from '../prompts/messages.ts';
import { isObject, type JsonValue } from '../text/json.ts';
import { CHOICE_EVENT, type ContentSource, MESSAGE_EVENTS } from './attribute-names.ts';
import type { Bag } from './bag.ts';
import { type JsonTexts, jsonText } from './json-texts.ts';
import type { OtlpSpan } from './otlp/read-request.ts';
import { type Answer, answerOf, readMessages } from './read-messages.ts';
import type { Room } from './room.ts';
import type { Step, StepType } from './step.ts';

type Content = { messages: ChatMessage[] } | { text: string };

function valueFrom(bag: Bag, from: ContentSource['from']): JsonValue | undefined {
  if (typeof from === 'string') return bag.get(from) ?? undefined;
  const members = Object.entries(from)
    .map(([member, name]) => [member, bag.getJson(name)] as const)
    .filter(([, value]) => value !== null);
  // System instructions without messages are not an input.
  return members.some(([member]) => member !== 'system') ? Object.fromEntries(members) : undefined;
}

const beforeAnswer = (messages: ChatMessage[]): ChatMessage[] => {
  const answer = messages.findIndex(({ role }) => role === 'assistant');
  return answer === -1 ? messages : messages.slice(0, answer);
};

/**
 * Takes out all attributes with contents: unread ones only repeat. Messages in an unknown form become a text, unless another attribute has
 * them in a known form.
 */
export function contentOf(bag: Bag, sources: readonly ContentSource[], type: StepType): Content | null {
  const speaks = type === 'model' || type === 'agent';
  let found: Content | null = null;
  let isFinal = false;
  for (const { from, messages, isHistory } of sources) {
    const value: JsonValue | undefined = isFinal ? undefined : valueFrom(bag, from);
    if (value !== undefined && value !== '') {
      const isAlways = messages === 'always';
      const read: ChatMessage[] | undefined =
        isAlways || (speaks && messages !== 'text') ? readMessages(value, bag.texts) : undefined;
      if (read !== undefined && (found === null || read.some(({ content }) => content.length > 0)))
        found = { messages: isHistory ? beforeAnswer(read) : read };
      else found ??= { text: jsonText(bag.texts.unquoted(value)) };
      isFinal = read === undefined ? !isAlways : read.some(({ content }) => content.length > 0);
    }
    for (const name of typeof from === 'string' ? [from] : Object.values(from)) bag.drop(name);
  }
  return found;
}

/** Events with one message each, as in earlier conventions. */
export function messagesInEvents(
  events: OtlpSpan['events'],
  texts: JsonTexts,
): { input: Content | null; output: Content | null } {
  const read = (kind: 'input' | 'output') => {
    const raw = events.flatMap(({ name, attributes }) => {
      const isChoice = name === CHOICE_EVENT;
      const role = isChoice ? 'assistant' : MESSAGE_EVENTS[name];
      if (role === undefined || isChoice !== (kind === 'output')) return [];
      const values = Object.fromEntries([...attributes].map(([key, value]) => [key, texts.parsed(value)]));
      const message = isObject(values['message']) ? values['message'] : values;
      return [{ ...message, role: (message as Record<string, JsonValue>)['role'] ?? role }];
    });
    const messages = raw.length === 0 ? undefined : readMessages(raw as JsonValue, texts);
    if (messages !== undefined) return { messages };
    return raw.length === 0 ? null : { text: JSON.stringify(raw) };
  };
  return { input: read('input'), output: read('output') };
}

export const isMessageEvent = (name: string) => name in MESSAGE_EVENTS || name === CHOICE_EVENT;

/** For a model, the first of its answers; for a step that calls models, the last one. */
export function answerFrom(content: Content | null, type: StepType): Answer {
  if (content === null) return { text: null, toolCalls: [], reasoning: null };
  if ('text' in content) return { text: content.text, toolCalls: [], reasoning: null };
  const said = content.messages.filter(({ role }) => role === 'assistant');
  const message = (type === 'model' ? said[0] : said.at(-1)) ?? content.messages.at(-1);
  return message === undefined ? { text: null, toolCalls: [], reasoning: null } : answerOf(message);
}

function cutMessage(message: ChatMessage, room: Room): ChatMessage {
  const cutPart = <Part extends Exclude<ChatMessage['content'], string>[number]>(part: Part): Part => {
    if (part.type === 'text') return { ...part, text: room.text(part.text, 'input') };
    if (part.type === 'tool_call') return { ...part, input: room.json(part.input, 'input') };
    return part.type === 'tool_result' ? { ...part, output: room.json(part.output, 'input') } : part;
  };
  const { content } = message;
  const kept = typeof content === 'string' ? room.text(content, 'input') : content.map((part) => cutPart(part));
  const reasoning = message.role === 'assistant' && message.reasoning_content;
  const thought = reasoning ? { reasoning_content: room.text(reasoning, 'input') } : {};
  return { ...message, ...thought, content: kept } as ChatMessage;
}

/** The last messages matter most. */
export function cutInput(content: Content | null, room: Room): Step['input'] {
  if (content === null) return null;
  if ('text' in content) return room.text(content.text, 'input');
  const kept: ChatMessage[] = [];
  for (const message of content.messages.toReversed()) {
    if (room.isFull) {
      room.mark('input');
      break;
    }
    kept.push(cutMessage(message, room));
  }
  return kept.reverse();
}
