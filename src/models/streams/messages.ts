import { isObject } from '../../domain/text/json.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { listOf, type RequestBody } from '../requests/json-body.ts';
import type { SkippedKinds } from '../responses/understood.ts';
import { type Assembler, assignInside, assignKnown, indexOf } from './assembler.ts';

/** The texts that arrive in pieces. */
const TEXTS = ['text', 'thinking', 'signature'];

/** @see https://docs.anthropic.com/en/docs/build-with-claude/streaming */
export function createMessagesAssembler(skipped: SkippedKinds): Assembler {
  const message: RequestBody = {};
  const blocks = new Map<number, RequestBody>();
  const inputs = new Map<number, string>();
  let isStopped = false;
  const isWhole = () => isStopped || typeof message['stop_reason'] === 'string';

  function beginBlock(index: number, given: unknown): string {
    const block = isObject(given) ? given : {};
    blocks.set(index, block);
    return textOf(block, block);
  }

  function addDelta(index: number, delta: unknown): string {
    if (!isObject(delta)) return '';
    // Some servers omit the start of a block.
    const block = blocks.get(index) ?? { type: 'thinking' in delta || 'signature' in delta ? 'thinking' : 'text' };
    blocks.set(index, block);
    for (const name of TEXTS) append(block, name, delta[name]);
    const { citation, partial_json: json } = delta;
    if (citation !== undefined) block['citations'] = [...listOf(block['citations']), citation];
    if (typeof json === 'string') inputs.set(index, (inputs.get(index) ?? '') + json);
    return textOf(block, delta);
  }

  return {
    add(event) {
      const index = indexOf(event['index']) ?? 0;
      switch (event['type']) {
        case 'message_start':
          if (isObject(event['message'])) assignKnown(message, event['message']);
          return '';
        case 'content_block_start':
          return beginBlock(index, event['content_block']);
        case 'content_block_delta':
          return addDelta(index, event['delta']);
        case 'message_delta':
          if (isObject(event['delta'])) assignKnown(message, event['delta']);
          assignInside(message, 'usage', event['usage']);
          return '';
        case 'message_stop':
          isStopped = true;
          return '';
        case 'content_block_stop':
        case 'ping':
          return '';
        default:
          // "New event types may be added."
          skipped.add('event', event['type']);
          return '';
      }
    },
    isComplete: isWhole,
    body() {
      for (const [index, json] of inputs) {
        const block = blocks.get(index);
        if (block !== undefined && json !== '') block['input'] = parsedOr(json);
      }
      const content = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
      return { ...message, ...((blocks.size > 0 || isWhole()) && { content }) };
    },
  };
}

/** The text that an event adds to the response. */
function textOf(block: RequestBody, { text }: RequestBody): string {
  return block['type'] === 'text' && typeof text === 'string' ? text : '';
}

function append(block: RequestBody, key: string, text: unknown): void {
  if (typeof text !== 'string') return;
  const there = block[key];
  block[key] = (typeof there === 'string' ? there : '') + text;
}

/** An input cut off at the token limit stays a string. */
function parsedOr(json: string): unknown {
  try {
    return parseKeepingDigits(json);
  } catch {
    return json;
  }
}
