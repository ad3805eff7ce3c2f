import { isObject } from '../../domain/text/json.ts';
import type { RequestBody } from '../requests/json-body.ts';
import { countOf, nothingBut, type SkippedKinds, textsAt, type Understood } from './understood.ts';

/** Blocks known not to be part of the response: reasoning, and what the provider ran itself. */
const SILENT_BLOCKS =
  /^(thinking|redacted_thinking|compaction|container_upload|server_tool_use|mcp_tool_use|\w+_tool_result)$/;
const COUNTS = ['cache_creation_input_tokens', 'cache_read_input_tokens'] as const;

/** @see https://docs.anthropic.com/en/api/messages */
export function understandMessage(body: RequestBody, skipped: SkippedKinds): Understood {
  const usage = usageOf(body['usage']);
  const { content, fault } = contentOf(body['content'], skipped);
  return {
    body: {
      ...textsAt(body, ['id', 'model', 'stop_reason']),
      type: 'message',
      role: 'assistant',
      content,
      usage: usage ?? { input_tokens: 0, output_tokens: 0 },
    },
    hasUsage: usage !== undefined,
    fault,
  };
}

function contentOf(given: unknown, skipped: SkippedKinds): { content: RequestBody[]; fault?: string } {
  const blocks: unknown = typeof given === 'string' ? [{ type: 'text', text: given }] : given;
  if (!Array.isArray(blocks)) return { content: [], fault: 'it has no list "content"' };
  const content: RequestBody[] = [];
  for (const [index, block] of blocks.entries()) {
    const { type, text, id, name, input }: RequestBody = isObject(block) ? block : {};
    if (type === 'text' && typeof text === 'string') content.push({ type, text });
    else if (type === 'tool_use') {
      if (typeof name !== 'string' || name === '') return { content, fault: `content.${index} has no name` };
      content.push({ type, id: typeof id === 'string' ? id : `toolu_${index}`, name, input: input ?? {} });
    } else if (!SILENT_BLOCKS.test(String(type))) skipped.add('part', type);
  }
  return content.length === 0 && skipped.hasParts ? { content, fault: nothingBut(skipped) } : { content };
}

function usageOf(usage: unknown): RequestBody | undefined {
  if (!isObject(usage)) return undefined;
  const [input, output] = [countOf(usage['input_tokens']), countOf(usage['output_tokens'])];
  if (input === undefined || output === undefined) return undefined;
  const { iterations, output_tokens_details: details } = usage;
  const thinking = isObject(details) ? countOf(details['thinking_tokens']) : undefined;
  return {
    input_tokens: input,
    output_tokens: output,
    ...Object.fromEntries(COUNTS.map((name) => [name, countOf(usage[name])])),
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
    // Usage of intermediate summaries, which is billed in addition.
    ...(Array.isArray(iterations) && iterations.every(isIteration) && { iterations }),
  };
}

function isIteration(value: unknown): boolean {
  return (
    isObject(value) &&
    /^(compaction|message|advisor_message|fallback_message)$/.test(String(value['type'])) &&
    typeof value['input_tokens'] === 'number' &&
    typeof value['output_tokens'] === 'number'
  );
}
