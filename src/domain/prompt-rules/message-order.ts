import type { PromptMessage } from './types.ts';

/** What is wrong with a list of messages, at one of them. */
export interface OrderFault {
  index: number;
  message: string;
}

const NO_CALL = 'but there is no earlier open tool_call with this id';

/**
 * The first place where no provider would accept a list: tool results without their calls, tool calls without their results, or only
 * system messages.
 *
 * @param isComplete whether nothing follows the list. The messages of a placeholder are unknown, so they may contain calls and results.
 */
export function orderFault(list: readonly PromptMessage[], isComplete: boolean): OrderFault | undefined {
  /** Called tools without a result so far, by call id; undefined if unknown. */
  let open: Map<string, string> | undefined = new Map();
  let callsAt = 0;
  let hasOthers = false;
  for (const [index, entry] of list.entries()) {
    if ('placeholder' in entry) {
      hasOthers = true;
      open = undefined;
      continue;
    }
    if (entry.role !== 'system') hasOthers = true;
    if (entry.role === 'tool') {
      const message = open && resultFault(entry.content, open);
      if (message !== undefined) return { index, message };
      continue;
    }
    const [unanswered] = open?.keys() ?? [];
    if (unanswered !== undefined)
      return { index, message: `comes before the tool_result of the tool_call "${unanswered}"` };
    callsAt = index;
    open = new Map();
    for (const part of entry.role === 'assistant' && typeof entry.content !== 'string' ? entry.content : []) {
      if (part.type !== 'tool_call') continue;
      if (open.has(part.id)) return { index, message: `has two tool_calls with the id "${part.id}"` };
      open.set(part.id, part.name);
    }
  }
  if (!isComplete) return undefined;
  const [unanswered] = open?.keys() ?? [];
  if (unanswered !== undefined)
    return { index: callsAt, message: `has the tool_call "${unanswered}" without a following tool_result` };
  if (!hasOthers) return { index: Math.max(0, list.length - 1), message: 'must be followed by a non-system message' };
  return undefined;
}

/** Removes calls that have their results from `open`. */
function resultFault(results: readonly { id: string; name: string }[], open: Map<string, string>): string | undefined {
  for (const { id, name } of results) {
    const called = open.get(id);
    if (called === undefined) return `has the tool_result "${id}", ${NO_CALL}`;
    if (called !== name)
      return `has the tool_result "${id}" of "${name}", but the tool_call with this id is of "${called}"`;
    open.delete(id);
  }
  return undefined;
}
