import { z } from 'zod';
import { openAiBatches } from './openai-batches.ts';
import {
  Base64,
  DataUrl,
  HttpUrl,
  halvesOf,
  JsonSchemaObject,
  type Protocol,
  type StreamEvent,
  usageOf,
  wordsOf,
} from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

/** For gateways to Anthropic: the end of the cached part. */
const marked = { cache_control: z.looseObject({ type: z.literal('ephemeral') }).optional() };
const TextPart = z.strictObject({ type: z.literal('text'), text: z.string(), ...marked });
const Text = z.union([z.string(), z.array(TextPart).min(1)]);
const UserPart = z.discriminatedUnion('type', [
  TextPart,
  z.strictObject({
    type: z.literal('image_url'),
    ...marked,
    image_url: z.strictObject({ url: z.union([DataUrl(/^image\//), HttpUrl]), detail: z.string().optional() }),
  }),
  z.strictObject({
    type: z.literal('input_audio'),
    ...marked,
    input_audio: z.strictObject({ data: Base64, format: z.enum(['wav', 'mp3']) }),
  }),
  z.strictObject({
    type: z.literal('file'),
    ...marked,
    file: z.strictObject({ filename: z.string(), file_data: DataUrl(/^application\/pdf$/) }),
  }),
]);
const ToolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
  ...marked,
});
const name = z.string().optional();
const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal(['system', 'developer']), content: Text, name, ...marked }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(UserPart).min(1)]),
    name,
    ...marked,
  }),
  z
    .strictObject({
      role: z.literal('assistant'),
      name,
      // From compatible servers.
      reasoning_content: z.string().optional(),
      reasoning_details: z.array(z.unknown()).optional(),
      content: Text.nullish(),
      tool_calls: z.array(ToolCall).min(1).optional(),
    })
    .refine(
      ({ content, tool_calls }) => content != null || tool_calls !== undefined,
      'content or tool_calls is needed',
    ),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: Text, ...marked }),
]);
/** The fields of a message that are the same for all providers. */
interface AnyMessage {
  role: string;
  content?: string | readonly { type: string; text?: unknown }[] | null | undefined;
  tool_call_id?: string;
  tool_calls?: readonly { id: string }[] | undefined;
}

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string(),
    description: z.string().optional(),
    parameters: JsonSchemaObject,
    strict: z.boolean().optional(),
  }),
  ...marked,
});

const StreamOptions = z.strictObject({ include_usage: z.boolean().optional() });

/** OpenAI's fields, and those of compatible servers that tests send. */
const OTHER_FIELDS = `frequency_penalty presence_penalty logit_bias logprobs top_logprobs max_tokens max_completion_tokens metadata n
  prediction prompt_cache_key reasoning_effort response_format safety_identifier seed service_tier stop store temperature top_p
  user verbosity top_k min_p chat_template_kwargs`;

const Request = z
  .strictObject({
    model: z.string(),
    messages: z.array(Message).min(1).superRefine(requireCallsAndResults),
    tools: z.array(Tool).min(1).optional(),
    tool_choice: z
      .union([
        z.enum(['auto', 'none', 'required']),
        z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
      ])
      .optional(),
    parallel_tool_calls: z.boolean().optional(),
    stream: z.boolean().optional(),
    stream_options: StreamOptions.optional(),
    ...Object.fromEntries(OTHER_FIELDS.split(/\s+/).map((name) => [name, z.unknown().optional()])),
  })
  .refine(
    ({ stream, stream_options }) => stream === true || stream_options === undefined,
    'stream_options needs stream',
  )
  .refine(({ tools, tool_choice }) => tools !== undefined || tool_choice === undefined, 'tool_choice needs tools')
  .refine(
    ({ tools, parallel_tool_calls }) => tools !== undefined || parallel_tool_calls === undefined,
    'parallel_tool_calls needs tools',
  );

/** An assistant's calls must be followed by exactly their results. */
export function requireCallsAndResults(messages: readonly AnyMessage[], context: z.RefinementCtx): void {
  const fault = (message: string) => context.addIssue({ code: 'custom', message });
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) fault(`no call ${message.tool_call_id} is before its result`);
      continue;
    }
    if (open.size > 0) fault('a call has no result');
    open = new Set(message.tool_calls?.map(({ id }) => id));
  }
  if (open.size > 0) fault('a call has no result');
}

export function textOf(message: AnyMessage | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

interface AnswerMessage {
  content?: string | null;
  refusal?: string | null;
  tool_calls?: z.infer<typeof ToolCall>[];
  annotations?: unknown;
}
interface Answer {
  choices: { index: number; finish_reason: string; message: AnswerMessage }[];
  usage?: unknown;
}

function deltasOf({ content, refusal, tool_calls = [], ...rest }: AnswerMessage): unknown[] {
  return [
    { ...rest, role: 'assistant', content: '' },
    ...(content ? wordsOf(content).map((word) => ({ content: word })) : []),
    ...(refusal ? wordsOf(refusal).map((word) => ({ refusal: word })) : []),
    ...tool_calls.flatMap(({ id, type, function: { name, arguments: input } }, index) => [
      { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
      ...halvesOf(input).map((half) => ({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
  ];
}

/** Chat completions, as OpenAI and the servers compatible with it speak them. */
export const chatCompletions: Protocol = {
  name: 'openai',
  serves: (path) => path.endsWith('/chat/completions'),
  promptOf: (body) => textOf(Request.parse(body).messages.at(-1)),
  wantsStream: ({ body }) => body['stream'] === true,
  answer(call, canned) {
    const usage = usageOf(call, canned);
    const toolCalls = canned.toolCalls?.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
    }));
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: Math.floor(call.at / 1000),
      model: canned.servedBy ?? call.body['model'],
      choices: [
        {
          index: 0,
          finish_reason: canned.finishReason ?? (toolCalls ? 'tool_calls' : 'stop'),
          logprobs: null,
          message: {
            role: 'assistant',
            content: canned.refusal !== undefined || (toolCalls && canned.text === '') ? null : canned.text,
            refusal: canned.refusal ?? null,
            ...(toolCalls && { tool_calls: toolCalls }),
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
  events(call, answer): StreamEvent[] {
    const { choices, usage, ...rest } = answer as unknown as Answer;
    const base = { ...rest, object: 'chat.completion.chunk' };
    const { include_usage = false } = StreamOptions.optional().parse(call.body['stream_options']) ?? {};
    const chunk = (index: number, delta: unknown, finish_reason: string | null) => ({
      data: {
        ...base,
        choices: [{ index, delta, finish_reason, logprobs: null }],
        ...(include_usage && { usage: null }),
      },
    });
    return [
      ...choices.flatMap(({ index, message, finish_reason }) => [
        ...deltasOf(message).map((delta) => chunk(index, delta, null)),
        chunk(index, {}, finish_reason),
      ]),
      ...(include_usage && usage !== undefined ? [{ data: { ...base, choices: [], usage } }] : []),
      { data: '[DONE]' },
    ];
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
  batches: openAiBatches,
};

/** A stand-in for OpenAI and for any server compatible with it. */
export function startOpenAiServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(chatCompletions, '/v1', options);
}
