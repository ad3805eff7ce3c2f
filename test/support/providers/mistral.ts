import { z } from 'zod';
import { chatCompletions, requireCallsAndResults, textOf } from './openai.ts';
import { DataUrl, HttpUrl, JsonSchemaObject, type Protocol, wordsOf } from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

/** https://docs.mistral.ai/api/endpoint/chat: unknown fields are rejected, and so are ids of another form. */
const CallId = z.string().regex(/^[A-Za-z0-9]{9}$/);
const Url = (type: RegExp) => z.union([DataUrl(type), HttpUrl]);
const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const UserPart = z.discriminatedUnion('type', [
  TextPart,
  z.strictObject({ type: z.literal('image_url'), image_url: Url(/^image\//) }),
  z.strictObject({ type: z.literal('document_url'), document_url: Url(/^application\/pdf$/) }),
]);
const ToolCall = z.strictObject({
  id: CallId,
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(UserPart).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    prefix: z.boolean().optional(),
    tool_calls: z.array(ToolCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: CallId, name: z.string(), content: z.string() }),
]);
const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string(),
    description: z.string().optional(),
    parameters: JsonSchemaObject,
    strict: z.boolean().optional(),
  }),
});

const Request = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1).superRefine(requireCallsAndResults).superRefine(requireLastByUser),
  tools: z.array(Tool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'any', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  max_tokens: z.int().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  random_seed: z.int().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  reasoning_effort: z.string().optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['text', 'json_object']) }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          schema: JsonSchemaObject,
          strict: z.boolean().optional(),
        }),
      }),
    ])
    .optional(),
  safe_prompt: z.boolean().optional(),
  prompt_mode: z.literal('reasoning').nullish(),
});

/** A final assistant message can only be a prefix to be continued. */
function requireLastByUser(messages: z.infer<typeof Message>[], context: z.RefinementCtx): void {
  const last = messages.at(-1);
  if (last?.role === 'system' || (last?.role === 'assistant' && last.prefix !== true))
    context.addIssue({ code: 'custom', message: 'the last message must be of a user or tool' });
}

interface Answer {
  choices: {
    index: number;
    finish_reason: string;
    message: { content: string | null; tool_calls?: { id: string }[] };
  }[];
  usage: unknown;
}

const protocol: Protocol = {
  ...chatCompletions,
  name: 'mistral',
  promptOf: (body) => textOf(Request.parse(body).messages.at(-1)),
  answer(call, canned) {
    const { choices, ...rest } = chatCompletions.answer(call, canned) as unknown as Answer;
    return {
      ...rest,
      id: 'cmpl-1',
      choices: choices.map(({ index, finish_reason, message: { content, tool_calls } }) => ({
        index,
        finish_reason,
        message: { role: 'assistant', content: content ?? '', tool_calls: tool_calls ?? null },
      })),
      ...canned.extra,
    };
  },
  /** Usage comes with the end of the last choice, and a tool call in one piece. */
  events(_, answer) {
    const { choices, usage, ...rest } = answer as unknown as Answer;
    const chunk = (index: number, delta: unknown, finish_reason: string | null, last = {}) => ({
      data: {
        ...rest,
        object: 'chat.completion.chunk',
        choices: [{ index, delta, finish_reason, logprobs: null }],
        ...last,
      },
    });
    return [
      ...choices.flatMap(({ index, message: { content, tool_calls }, finish_reason }) => [
        chunk(index, { role: 'assistant', content: '' }, null),
        ...piecesOf(content).map((piece) => chunk(index, { content: piece }, null)),
        chunk(
          index,
          {
            content: '',
            tool_calls: tool_calls?.map((toolCall, at) => ({ ...toolCall, index: at })) ?? null,
          },
          finish_reason,
          { usage },
        ),
      ]),
      { data: '[DONE]' },
    ];
  },
  error: (status, message) => ({
    object: 'error',
    message,
    type: status === 429 ? 'rate_limited' : 'invalid_request_error',
    param: null,
    code: '1000',
  }),
};

/** A reasoning model's content is a list of parts, whose texts arrive word by word. */
function piecesOf(content: unknown): unknown[] {
  if (typeof content === 'string') return wordsOf(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: { type: string; text?: string }) =>
    part.text === undefined ? [[part]] : wordsOf(part.text).map((text) => [{ type: 'text', text }]),
  );
}

/** A stand-in for Mistral. */
export function startMistralServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1', options);
}
