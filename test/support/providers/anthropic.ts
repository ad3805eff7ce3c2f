import { z } from 'zod';
import { anthropicBatches } from './anthropic-batches.ts';
import {
  Base64,
  HttpUrl,
  halvesOf,
  JsonSchemaObject,
  type Protocol,
  type StreamEvent,
  usageOf,
  wordsOf,
} from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

/** The end of the cached part, in blocks and tools. */
const marked = {
  cache_control: z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).optional(),
};
const TextBlock = z.strictObject({ type: z.literal('text'), text: z.string().min(1), ...marked });
const UrlSource = z.strictObject({ type: z.literal('url'), url: HttpUrl });
const ImageType = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const Block = z.discriminatedUnion('type', [
  TextBlock,
  z.strictObject({
    type: z.literal('image'),
    ...marked,
    source: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('base64'), media_type: ImageType, data: Base64 }),
      UrlSource,
    ]),
  }),
  z.strictObject({
    type: z.literal('document'),
    ...marked,
    source: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: Base64 }),
      z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
      UrlSource,
    ]),
    title: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('tool_use'),
    ...marked,
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    ...marked,
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(TextBlock)]).optional(),
    is_error: z.boolean().optional(),
  }),
]);
const Message = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string().min(1), z.array(Block).min(1)]),
});
type Message = z.infer<typeof Message>;

const ToolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal(['auto', 'any']), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: z.boolean().optional() }),
]);

const OTHER_FIELDS =
  'metadata output_config service_tier stop_sequences temperature thinking top_k top_p cache_control';

const Request = z
  .strictObject({
    model: z.string(),
    max_tokens: z.int().positive(),
    messages: z.array(Message).min(1).superRefine(requireUsesAndResults),
    system: z.union([z.string(), z.array(TextBlock)]).optional(),
    tools: z
      .array(
        z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          input_schema: JsonSchemaObject,
          strict: z.boolean().optional(),
          ...marked,
        }),
      )
      .optional(),
    tool_choice: ToolChoice.optional(),
    stream: z.boolean().optional(),
    ...Object.fromEntries(OTHER_FIELDS.split(' ').map((name) => [name, z.unknown().optional()])),
  })
  .refine(({ tools, tool_choice }) => tools !== undefined || tool_choice === undefined, 'tool_choice needs tools')
  .refine((body) => (JSON.stringify(body).match(/"cache_control":/g)?.length ?? 0) <= 4, 'at most 4 cache_control');

/** Roles alternate; a user's message starts with the results of all tools that the preceding assistant's message uses. */
function requireUsesAndResults(messages: Message[], context: z.RefinementCtx): void {
  const fault = (message: string) => context.addIssue({ code: 'custom', message });
  let open: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) fault(`messages.${index}: roles must alternate`);
    const blocks = typeof content === 'string' ? [] : content;
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (JSON.stringify([...results].sort()) !== JSON.stringify([...open].sort()))
      fault(`messages.${index}: tool_use and tool_result blocks do not match`);
    const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
    if (firstOther !== -1 && firstOther < results.length) fault(`messages.${index}: tool_result blocks come first`);
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  if (open.length > 0) fault('a tool_use has no tool_result');
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

type AnswerBlock = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown };
interface Answer {
  content: AnswerBlock[];
  stop_reason: string | null;
  stop_sequence: string | null;
  usage?: { output_tokens?: number; output_tokens_details?: unknown; server_tool_use?: unknown };
}

function blockEvents(block: AnswerBlock, index: number): StreamEvent[] {
  const isText = block.type === 'text';
  const deltas = isText
    ? wordsOf(block.text).map((text) => ({ type: 'text_delta', text }))
    : ['', ...halvesOf(JSON.stringify(block.input))].map((json) => ({ type: 'input_json_delta', partial_json: json }));
  return [
    event({
      type: 'content_block_start',
      index,
      content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) },
    }),
    event({ type: 'ping' }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function event(data: { type: string; [field: string]: unknown }): StreamEvent {
  return { event: data.type, data };
}

/** Anthropic's messages. Its `input_tokens` exclude tokens read from and written to the cache. */
const protocol: Protocol = {
  name: 'anthropic',
  serves: (path) => path.endsWith('/messages'),
  promptOf(body) {
    const content = Request.parse(body).messages.at(-1)?.content ?? '';
    if (typeof content === 'string') return content;
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  wantsStream: ({ body }) => body['stream'] === true,
  answer(call, canned) {
    const usage = usageOf(call, canned);
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: canned.servedBy ?? call.body['model'],
      content: [
        ...(canned.toolCalls !== undefined && canned.text === '' ? [] : [{ type: 'text', text: canned.text }]),
        ...(canned.toolCalls ?? []).map((toolCall) => ({ type: 'tool_use', ...toolCall })),
      ],
      stop_reason: canned.finishReason ?? (canned.toolCalls ? 'tool_use' : 'end_turn'),
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
  events(_call, answer): StreamEvent[] {
    const { content, stop_reason, stop_sequence, usage = {}, ...rest } = answer as unknown as Answer;
    const { output_tokens, output_tokens_details, server_tool_use, ...usageAtStart } = usage;
    return [
      event({
        type: 'message_start',
        message: {
          ...rest,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usageAtStart, output_tokens: 1 },
        },
      }),
      ...content.flatMap(blockEvents),
      event({
        type: 'message_delta',
        delta: { stop_reason, stop_sequence },
        usage: { output_tokens, output_tokens_details, server_tool_use },
      }),
      event({ type: 'message_stop' }),
    ];
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
  batches: anthropicBatches,
};

/** A stand-in for Anthropic. */
export function startAnthropicServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1', options);
}
