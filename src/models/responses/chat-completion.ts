import { randomUUID } from 'node:crypto';
import { isObject } from '../../domain/text/json.ts';
import { listOf, type RequestBody, valueAt } from '../requests/json-body.ts';
import { countOf, nothingBut, type SkippedKinds, textsAt, type Understood } from './understood.ts';

/** Reasoning is not part of the response; `reference` is Mistral's marker between texts. */
const SILENT_PARTS = new Set(['thinking', 'reasoning', 'redacted_thinking', 'reference']);
const TEXT_PARTS = new Set(['text', 'output_text', undefined]);

/** The content of a message, which some servers send as a list of parts. Undefined if it is neither text nor parts. */
export function contentOf(content: unknown, skipped: SkippedKinds): { text: string; refusal: string } | undefined {
  if (content === null || content === undefined) return { text: '', refusal: '' };
  if (typeof content === 'string') return { text: content, refusal: '' };
  if (!Array.isArray(content)) return isObject(content) ? contentOf([content], skipped) : undefined;
  const said = { text: '', refusal: '' };
  for (const part of content) {
    const { type, text, refusal } = isObject(part) ? part : { type: undefined, text: part, refusal: undefined };
    if (typeof text === 'string' && TEXT_PARTS.has(type as string | undefined)) said.text += text;
    else if (type === 'refusal' && typeof refusal === 'string') said.refusal += refusal;
    else if (!SILENT_PARTS.has(String(type))) skipped.add('part', type);
  }
  return said;
}

/** The input of a tool as a string; some servers send it parsed. */
export function argumentsOf(value: unknown): string {
  return typeof value === 'string' ? value : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : '';
}

/** @see https://platform.openai.com/docs/api-reference/chat/object */
export function understandChatCompletion(body: RequestBody, skipped: SkippedKinds): Understood {
  const usage = usageOf(body['usage']);
  const { choice, fault } = choiceOf(body['choices'], skipped);
  return {
    body: {
      ...textsAt(body, ['id', 'model']),
      object: 'chat.completion',
      // SDKs reject a response without a choice.
      choices: [choice ?? { index: 0, message: { role: 'assistant', content: '' } }],
      // Mistral's SDK rejects a response without it.
      usage: usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    },
    hasUsage: usage !== undefined,
    fault,
  };
}

function choiceOf(choices: unknown, skipped: SkippedKinds): { choice?: RequestBody; fault?: string } {
  if (!Array.isArray(choices)) return { fault: 'it has no list "choices"' };
  if (choices.length === 0) return {};
  const choice = choices.find((each) => isObject(each) && (each['index'] ?? 0) === 0) ?? choices[0];
  // Handles a streamed piece instead of the whole response, and the format before chat.
  const message: unknown =
    choice?.message ?? choice?.delta ?? (typeof choice?.text === 'string' ? { content: choice.text } : undefined);
  if (!isObject(message)) return { fault: 'choices.0 has no "message"' };
  const content = contentOf(message['content'], skipped);
  if (content === undefined) skipped.add('part', typeof message['content']);
  const refusal = typeof message['refusal'] === 'string' ? message['refusal'] : content?.refusal;
  const { toolCalls, fault } = toolCallsOf(message, skipped);
  const read = {
    index: 0,
    ...textsAt(choice, ['finish_reason']),
    message: {
      role: 'assistant',
      content: content?.text ?? '',
      ...(refusal && { refusal }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
  };
  if (fault !== undefined) return { choice: read, fault };
  if (content?.text || refusal || toolCalls.length > 0 || !skipped.hasParts) return { choice: read };
  return { choice: read, fault: nothingBut(skipped) };
}

/** Tool calls must have a name and cannot be skipped. */
function toolCallsOf(message: RequestBody, skipped: SkippedKinds): { toolCalls: RequestBody[]; fault?: string } {
  const legacy = isObject(message['function_call']) ? [{ function: message['function_call'] }] : [];
  const toolCalls: RequestBody[] = [];
  for (const [index, call] of [...listOf(message['tool_calls']), ...legacy].entries()) {
    const called = isObject(call) ? call['function'] : undefined;
    if (!isObject(call) || !isObject(called)) {
      skipped.add('tool call', isObject(call) ? call['type'] : undefined);
      continue;
    }
    const { name } = called;
    if (typeof name !== 'string' || name === '') return { toolCalls, fault: `tool_calls.${index} has no name` };
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : `call_${randomUUID()}`;
    toolCalls.push({ id, type: 'function', function: { name, arguments: argumentsOf(called['arguments']) } });
  }
  return { toolCalls };
}

/** Some servers use the field names of the Responses API. */
function usageOf(usage: unknown): RequestBody | undefined {
  if (!isObject(usage)) return undefined;
  const total = countOf(usage['total_tokens']);
  const input = countOf(usage['prompt_tokens']) ?? countOf(usage['input_tokens']);
  const output = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens']);
  const rest = input === undefined || total === undefined ? undefined : total - input;
  if (input === undefined || (output ?? rest) === undefined) return undefined;
  const detail = (place: string) => countOf(valueAt(usage, place));
  return {
    prompt_tokens: input,
    completion_tokens: output ?? rest,
    total_tokens: total ?? input + (output ?? 0),
    prompt_tokens_details: {
      // Mistral has three names for it.
      cached_tokens:
        countOf(usage['num_cached_tokens']) ??
        detail('prompt_tokens_details.cached_tokens') ??
        detail('prompt_token_details.cached_tokens'),
      cache_write_tokens: detail('prompt_tokens_details.cache_write_tokens'),
    },
    completion_tokens_details: { reasoning_tokens: detail('completion_tokens_details.reasoning_tokens') },
  };
}
