import { isObject } from '../../domain/text/json.ts';
import { listOf, type RequestBody } from '../requests/json-body.ts';
import { argumentsOf, contentOf } from '../responses/chat-completion.ts';
import type { SkippedKinds } from '../responses/understood.ts';
import { type Assembler, assignKnown, indexOf } from './assembler.ts';

interface ToolCall {
  id: string | undefined;
  type: 'function';
  function: { name: string; arguments: string };
}

interface Message {
  fields: RequestBody;
  finishReason: string | null;
  toolCalls: (ToolCall | RequestBody)[];
  /** The latest call. */
  last: ToolCall | undefined;
  /** The current call of each index. */
  byIndex: Map<number, ToolCall>;
}

/** @see https://platform.openai.com/docs/api-reference/chat-streaming */
export function createChatCompletionAssembler(skipped: SkippedKinds): Assembler {
  const top: RequestBody = {};
  const messages = new Map<number, Message>();
  let hasChoices = false;

  function addChoice(choice: RequestBody): string {
    const { finish_reason: finishReason } = choice;
    const index = indexOf(choice['index']) ?? 0;
    const message = messages.get(index) ?? newMessage();
    messages.set(index, message);
    if (typeof finishReason === 'string' && finishReason !== '') message.finishReason = finishReason;
    // Some servers end with the whole message, which repeats the pieces before it.
    const isWhole = choice['delta'] == null && isObject(choice['message']);
    const given = isWhole ? choice['message'] : (choice['delta'] ?? { content: choice['text'] });
    if (!isObject(given) || (isWhole && (message.fields['content'] || message.toolCalls.length > 0))) return '';
    const { tool_calls: toolCalls, function_call: only, content, refusal, ...fields } = given;
    for (const toolCall of listOf(toolCalls)) addToolCall(message, toolCall);
    if (isObject(only)) addToolCall(message, { function: only });
    const said = contentOf(content, skipped);
    if (said === undefined) skipped.add('part', typeof content);
    const texts = { content: said?.text ?? '', refusal: typeof refusal === 'string' ? refusal : (said?.refusal ?? '') };
    append(message.fields, 'content', texts.content);
    append(message.fields, 'refusal', texts.refusal);
    for (const [name, value] of Object.entries(fields)) addField(message.fields, name, value);
    return index === 0 ? texts.content + texts.refusal : '';
  }

  return {
    add({ choices, ...rest }) {
      if (Array.isArray(choices)) hasChoices = true;
      else if (!isObject(rest['usage'])) skipped.add('event', rest['type'] ?? rest['object']);
      assignKnown(top, rest);
      return listOf(choices).filter(isObject).map(addChoice).join('');
    },
    isComplete: () => messages.get(0)?.finishReason != null,
    body: () => ({
      ...top,
      object: 'chat.completion',
      ...(hasChoices && {
        choices: [...messages].map(([index, { fields, finishReason, toolCalls }]) => ({
          index,
          finish_reason: finishReason,
          message: { ...fields, role: 'assistant', ...(toolCalls.length > 0 && { tool_calls: toolCalls }) },
        })),
      }),
    }),
  };
}

function newMessage(): Message {
  return { fields: {}, finishReason: null, toolCalls: [], last: undefined, byIndex: new Map() };
}

function append(fields: RequestBody, name: string, text: string): void {
  const before = fields[name];
  if (text !== '') fields[name] = typeof before === 'string' ? before + text : text;
}

function addField(fields: RequestBody, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  const there = fields[name];
  if (Array.isArray(there) && Array.isArray(value)) there.push(...value);
  else fields[name] = value;
}

/** Some servers omit the index or use the same for all calls: another id starts another call. */
function addToolCall(message: Message, toolCall: unknown): void {
  const { index: place, id: given, function: piece, type }: RequestBody = isObject(toolCall) ? toolCall : {};
  if (type !== undefined && type !== null && type !== 'function' && piece === undefined) {
    message.toolCalls.push({ type });
    return;
  }
  const { name, arguments: input }: RequestBody = isObject(piece) ? piece : {};
  const index = indexOf(place);
  const id = typeof given === 'string' && given !== '' ? given : undefined;
  let call = index === undefined ? message.last : message.byIndex.get(index);
  if (call === undefined || (id !== undefined && call.id !== undefined && call.id !== id)) {
    call = { id, type: 'function', function: { name: '', arguments: '' } };
    message.toolCalls.push(call);
    if (index !== undefined) message.byIndex.set(index, call);
  }
  message.last = call;
  call.id ??= id;
  if (typeof name === 'string') call.function.name = joinedName(call.function.name, name);
  call.function.arguments += argumentsOf(input);
}

/** A name arrives whole, in pieces, or repeated with each piece of the input. */
function joinedName(name: string, piece: string): string {
  return piece.startsWith(name) ? piece : name + piece;
}
