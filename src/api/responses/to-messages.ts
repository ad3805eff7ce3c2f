import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import {
  type AssistantPart,
  type ChatMessage,
  MAX_RENDERED_CHARS,
  type ToolCall,
} from '../../domain/prompts/messages.ts';
import { allows } from '../../domain/scopes.ts';
import type { RouteRequest } from '../../http/route.ts';
import { getExecution, toolCallsOf } from '../../services/executions/executions.ts';
import type { InputItem } from './input-schema.ts';

type Reference = Extract<InputItem, { kind: 'reference' }>;
/** The part of an execution that is kept for items that refer to it. */
interface Answer {
  output: string | null;
  toolCalls: ToolCall[];
}

/** Maximum number of executions that the items of a request can refer to, because each is read. */
const MAX_REFERENCED = 100;

/**
 * Converts items to messages. Consecutive texts and calls of the assistant become one message.
 * @throws ApiError `invalid_request`, `insufficient_scope` if items refer to executions that the key cannot read
 */
export async function toMessages(
  items: readonly InputItem[],
  { db, key }: Pick<RouteRequest<unknown, unknown, unknown>, 'db' | 'key'>,
): Promise<ChatMessage[]> {
  const references = items.filter((item) => item.kind === 'reference');
  if (references.length > 0 && !allows(key.scopes, 'read'))
    throw new ApiError(
      'insufficient_scope',
      'An item_reference reads an execution, for which this key lacks the scope "read". Send the item itself (AI SDK: store: false).',
    );
  const answers = await readAnswers(db, references);
  const messages: ChatMessage[] = [];
  const called = new Map<string, string>();
  let said: AssistantPart[] = [];
  let thought: string[] = [];
  let speaker: string | undefined;
  const add = (part: AssistantPart) => {
    if (part.type === 'tool_call') called.set(part.id, part.name);
    if (part.type !== 'text' || part.text !== '') said.push(part);
  };
  const endTurn = () => {
    const [first] = said;
    const others = {
      ...(speaker !== undefined && { name: speaker }),
      ...(thought.length > 0 && { reasoning_content: thought.join('\n\n') }),
    };
    if (first?.type === 'text' && said.length === 1 && first.cache_control === undefined)
      messages.push({ role: 'assistant', content: first.text, ...others });
    else if (said.length > 0) messages.push({ role: 'assistant', content: said, ...others });
    said = [];
    thought = [];
    speaker = undefined;
  };
  for (const [index, item] of items.entries()) {
    if (item.kind === 'said') {
      // Another speaker starts another message. A tool call names no speaker and joins the current message.
      if (item.speaker !== undefined && said.length > 0 && item.speaker !== speaker) endTurn();
      speaker ??= item.speaker;
      add(item.part);
    } else if (item.kind === 'reasoning') thought.push(...(item.text === '' ? [] : [item.text]));
    else if (item.kind === 'reference') add(partOf(item, answers.get(item.executionId), index));
    else {
      endTurn();
      messages.push(item.kind === 'message' ? item.message : toolMessage(item, called.get(item.callId), index));
    }
  }
  endTurn();
  return messages;
}

function toolMessage(
  { callId: id, output, mark }: Extract<InputItem, { kind: 'output' }>,
  name: string | undefined,
  index: number,
): ChatMessage {
  if (name === undefined) throw invalidField(`input.${index}.call_id`, 'does not match an earlier function_call');
  return { role: 'tool', content: [{ type: 'tool_result', id, name, output, ...mark }] };
}

function partOf({ toolCall }: Reference, answer: Answer | undefined, index: number): AssistantPart {
  if (toolCall === undefined && answer?.output != null) return { type: 'text', text: answer.output };
  const call = toolCall === undefined ? undefined : answer?.toolCalls[toolCall];
  if (call === undefined) throw invalidField(`input.${index}.id`, 'does not match an item of a response');
  return { type: 'tool_call', ...call };
}

/** Answers by execution id, without those that do not exist in the workspace. @throws ApiError `invalid_request` */
async function readAnswers(db: WorkspaceDatabase, references: readonly Reference[]): Promise<Map<string, Answer>> {
  const ids = new Set(references.map(({ executionId }) => executionId));
  if (ids.size > MAX_REFERENCED)
    throw invalidField('input', `must refer to at most ${MAX_REFERENCED} responses: send the items themselves`);
  const answers = new Map<string, Answer>();
  let chars = 0;
  for (const id of ids) {
    const row = await getExecution(db, id).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'not_found') return undefined;
      throw error;
    });
    if (row === undefined) continue;
    const { output, tool_calls } = row;
    chars += (output?.length ?? 0) + (tool_calls?.length ?? 0);
    if (chars > MAX_RENDERED_CHARS)
      throw invalidField('input', `refers to more than ${MAX_RENDERED_CHARS} characters: omit the earliest items`);
    answers.set(id, { output, toolCalls: toolCallsOf(row) });
  }
  return answers;
}
