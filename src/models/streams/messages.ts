import { z } from 'zod';
import type { RequestBody } from '../requests/json-body.ts';
import { type Assembler, assignInside, assignKnown } from './assembler.ts';

const Block = z.looseObject({ type: z.string() });
const Event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.looseObject({}) }),
  z.object({ type: z.literal('content_block_start'), index: z.int(), content_block: Block }),
  z.object({
    type: z.literal('content_block_delta'),
    index: z.int(),
    delta: z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('message_delta'), delta: z.looseObject({}), usage: z.looseObject({}).nullish() }),
  z.object({ type: z.literal('message_stop') }),
]);
const KNOWN = new Set(['message_start', 'content_block_start', 'content_block_delta', 'message_delta', 'message_stop']);

/** @see https://docs.anthropic.com/en/docs/build-with-claude/streaming */
export function createMessagesAssembler(): Assembler {
  const message: RequestBody = {};
  const blocks = new Map<number, RequestBody>();
  const inputs = new Map<number, string>();
  let isComplete = false;

  return {
    add(data) {
      // Pings, the ends of blocks, and what is new: "new event types may be added".
      if (!KNOWN.has(String(data['type']))) return '';
      const event = Event.parse(data);
      switch (event.type) {
        case 'message_start':
          assignKnown(message, event.message);
          return '';
        case 'content_block_start':
          blocks.set(event.index, event.content_block);
          return typeof event.content_block['text'] === 'string' ? event.content_block['text'] : '';
        case 'content_block_delta': {
          const { text, thinking, signature, partial_json, citation } = event.delta;
          const block = blocks.get(event.index) ?? {};
          append(block, 'text', text);
          append(block, 'thinking', thinking);
          append(block, 'signature', signature);
          if (citation !== undefined) block['citations'] = [...listAt(block, 'citations'), citation];
          if (partial_json !== undefined) inputs.set(event.index, (inputs.get(event.index) ?? '') + partial_json);
          return text ?? '';
        }
        case 'message_delta':
          assignKnown(message, event.delta);
          assignInside(message, 'usage', event.usage);
          return '';
        case 'message_stop':
          isComplete = true;
          return '';
      }
    },
    isComplete: () => isComplete,
    body() {
      for (const [index, json] of inputs) {
        const block = blocks.get(index);
        if (block !== undefined && json !== '') block['input'] = parsedOr(json);
      }
      return { ...message, content: [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block) };
    },
  };
}

function append(block: RequestBody, key: string, text: string | undefined): void {
  if (text === undefined) return;
  const there = block[key];
  block[key] = (typeof there === 'string' ? there : '') + text;
}

function listAt(block: RequestBody, key: string): unknown[] {
  const there = block[key];
  return Array.isArray(there) ? there : [];
}

/** An input that was cut off, at the limit of tokens, stays a text. */
function parsedOr(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
