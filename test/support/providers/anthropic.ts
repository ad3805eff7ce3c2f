import { z } from 'zod';
import { type Protocol, usageOf } from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

const Message = z.object({ content: z.union([z.string(), z.array(z.object({ text: z.string() }))]) });
const Request = z.object({ messages: z.array(Message).min(1) });

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Anthropic's messages. Its `input_tokens` leave out what was read from and written to the cache. */
const protocol: Protocol = {
  name: 'anthropic',
  serves: (path) => path.endsWith('/messages'),
  promptOf(body) {
    const content = Request.parse(body).messages.at(-1)?.content ?? '';
    return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
  },
  answer(call, canned) {
    const usage = usageOf(call, canned);
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: canned.servedBy ?? call.body['model'],
      content: [{ type: 'text', text: canned.text }],
      stop_reason: canned.finishReason ?? 'end_turn',
      stop_sequence: null,
      ...(usage !== null && {
        usage: {
          input_tokens: usage.input - usage.cached - usage.cacheWrite,
          cache_read_input_tokens: usage.cached,
          cache_creation_input_tokens: usage.cacheWrite,
          output_tokens: usage.output,
          ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
        },
      }),
      ...canned.extra,
    };
  },
  emptyAnswer: (call) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: call.body['model'],
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 0 },
  }),
  error: (status, message) => ({ type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } }),
};

/** A stand-in for Anthropic. */
export function startAnthropicServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1', options);
}
