// Marks of a provider's cache (`cache_control`), in parts of messages and in tools. They change what a call costs, not what it means.

export interface CacheMark {
  type: 'ephemeral';
  ttl?: '5m' | '1h' | undefined;
}
interface Marked {
  cache_control?: CacheMark | undefined;
}
interface Part extends Marked {
  type: string;
  text?: string;
}
interface Message {
  role: string;
  content: string | readonly Part[];
}
interface Tool extends Marked {
  name: string;
}
interface Call {
  messages: readonly Message[];
  tools: readonly Tool[];
}
type Fields = Record<string, unknown>;

const isMarked = ({ cache_control }: Marked): boolean => cache_control !== undefined;
/** The field of a part or tool with this mark; empty if there is none. */
export const cacheMark = (mark: CacheMark | null | undefined): Marked => (mark ? { cache_control: mark } : {});
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const markedParts = (content: Message['content']): Part[] =>
  typeof content === 'string' ? [] : content.filter(isMarked);

/** The last mark in a content. */
export const lastMark = (content: Message['content']): CacheMark | undefined =>
  markedParts(content).at(-1)?.cache_control;

/**
 * The call with at most this number of marks. A later mark caches everything before it, so the first ones are dropped: those of
 * tools, then those of messages.
 * @returns also the number dropped
 */
export function withMarksUpTo<Given extends Call>(call: Given, most: number): { fitted: Given; leftOut: number } {
  const { messages, tools } = call;
  const count =
    tools.filter(isMarked).length + messages.reduce((sum, message) => sum + markedParts(message.content).length, 0);
  const leftOut = Math.max(0, count - most);
  if (leftOut === 0) return { fitted: call, leftOut };
  let left = leftOut;
  const unmarked = <Of extends Marked>(marked: Of): Of => {
    if (!isMarked(marked) || left === 0) return marked;
    left -= 1;
    const { cache_control: _mark, ...others } = marked;
    return others as Of;
  };
  const fitted = {
    ...call,
    tools: tools.map(unmarked),
    messages: messages.map((message) =>
      typeof message.content === 'string' ? message : { ...message, content: message.content.map(unmarked) },
    ),
  };
  return { fitted, leftOut };
}

/** The texts of a message, joined up to each mark, because a cached prefix ends with a text. */
export function textsUpToMarks({ content }: Message): ({ text: string } & Marked)[] {
  if (typeof content === 'string') return [{ text: content }];
  const texts: ({ text: string } & Marked)[] = [];
  let text = '';
  for (const part of content) {
    text += part.text ?? '';
    if (!isMarked(part)) continue;
    texts.push({ text, ...cacheMark(part.cache_control) });
    text = '';
  }
  return text === '' && texts.length > 0 ? texts : [...texts, { text }];
}

/**
 * A body of chat completions with the marks of its call, in the places where supporting servers expect them: in parts of
 * contents, and in tools (https://openrouter.ai/docs/features/prompt-caching).
 */
export function withCacheMarks<Body extends { messages?: unknown; tools?: unknown }>(body: Body, call: Call): Body {
  const marked = { ...body };
  if (call.tools.some(isMarked)) {
    const marks = new Map(call.tools.map((tool) => [tool.name, cacheMark(tool.cache_control)]));
    marked.tools = listOf(body.tools).map((tool) => {
      const named = isObject(tool) ? tool['function'] : undefined;
      return isObject(tool) && isObject(named) ? { ...tool, ...marks.get(String(named['name'])) } : tool;
    });
  }
  if (call.messages.every(({ content }) => markedParts(content).length === 0)) return marked;
  // Each message is sent as one, except for the results of tools.
  const parts = call.messages.flatMap(({ role, content }): (readonly Part[])[] => {
    if (typeof content === 'string') return [[]];
    return role === 'tool' ? content.map((part) => [part]) : [content];
  });
  marked.messages = listOf(body.messages).map((message, index) => {
    const given = parts[index] ?? [];
    return isObject(message) && given.some(isMarked) ? withMarks(message, given) : message;
  });
  return marked;
}

function withMarks(message: Fields, given: readonly Part[]): Fields {
  const { content, tool_calls: sent } = message;
  const calls = given.filter(({ type }) => type === 'tool_call');
  const others = given.filter(({ type }) => type !== 'tool_call');
  return {
    ...message,
    ...(others.some(isMarked) && { content: markedContent(content, others) }),
    ...(calls.some(isMarked) && { tool_calls: listOf(sent).map((each, at) => withMark(each, calls[at])) }),
  };
}

const withMark = (sent: unknown, given: Part | undefined) =>
  isObject(sent) ? { ...sent, ...cacheMark(given?.cache_control) } : sent;

/** A content in parts; joined texts are separated again. */
function markedContent(sent: unknown, given: readonly Part[]): unknown[] {
  if (Array.isArray(sent)) return sent.map((part: unknown, at) => withMark(part, given[at]));
  return given.map((part) => ({ type: 'text', text: part.text ?? sent, ...cacheMark(part.cache_control) }));
}
