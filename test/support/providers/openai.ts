import { z } from 'zod';
import { type Protocol, usageOf } from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

const Message = z.object({ content: z.union([z.string(), z.array(z.object({ text: z.string() }))]) });
const Request = z.object({ messages: z.array(Message).min(1) });

/** Chat completions, as OpenAI and the servers compatible with it speak them. */
const protocol: Protocol = {
  name: 'openai',
  serves: (path) => path.endsWith('/chat/completions'),
  promptOf(body) {
    const content = Request.parse(body).messages.at(-1)?.content ?? '';
    return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
  },
  answer(call, canned) {
    const usage = usageOf(call, canned);
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: Math.floor(call.at / 1000),
      model: canned.servedBy ?? call.body['model'],
      choices: [
        {
          index: 0,
          finish_reason: canned.finishReason ?? 'stop',
          logprobs: null,
          message: {
            role: 'assistant',
            content: canned.refusal === undefined ? canned.text : null,
            refusal: canned.refusal ?? null,
          },
        },
      ],
      ...(usage !== null && {
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached, audio_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: 0 },
        },
      }),
      ...canned.extra,
    };
  },
  emptyAnswer: (call) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: call.body['model'],
    choices: [],
  }),
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'error', param: null, code: null },
  }),
};

/** A stand-in for OpenAI and for any server compatible with it. */
export function startOpenAiServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1', options);
}
