import { fieldOf, listOf, type RequestBody } from '../requests/json-body.ts';
import type { Counts } from './provider.ts';

/** Counts the content of the list `messages` in OpenAI's and Anthropic's requests. */
export function countsOfMessages(body: RequestBody): Counts {
  const counts: Counts = { system: 0, files: 0, toolCalls: 0, toolResults: 0 };
  for (const message of listOf(body['messages'])) {
    const role = fieldOf(message, 'role');
    if (role === 'system' || role === 'developer') counts.system += 1;
    if (role === 'tool') counts.toolResults += 1;
    counts.toolCalls += listOf(fieldOf(message, 'tool_calls')).length;
    for (const part of listOf(fieldOf(message, 'content'))) {
      const type = fieldOf(part, 'type');
      if (type === 'tool_use') counts.toolCalls += 1;
      else if (type === 'tool_result') counts.toolResults += 1;
      else if (type !== 'text') counts.files += 1;
    }
  }
  return counts;
}
