import { lastMark, textsUpToMarks, withMarksUpTo } from '../../../../src/domain/prompt-rules/cache-marks.ts';
import { asUserText, laterSystem } from '../../../../src/domain/prompt-rules/fold-system.ts';
import type { ChatMessage, FilePart } from '../generated/types.gen.ts';
import type { LoadedPrompt, Variables } from '../prompts/loaded-prompt.ts';
import {
  asText,
  type Call,
  type CallOptions,
  decoded,
  given,
  isOneToolAtATime,
  partsOf,
  refuse,
  remember,
  stopsOf,
  textOf,
  toCall,
  typeOf,
  UnsupportedError,
  withProviderOptions,
} from './call.ts';
import { adaptedSchema, isStructured } from './json-schema.ts';
import { type AnthropicTraits, anthropicTraits } from './models.ts';

/** The end of the prompt's cached part. */
interface Cached {
  cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' };
}
interface AnthropicText extends Cached {
  type: 'text';
  text: string;
}
interface UrlSource {
  type: 'url';
  url: string;
}
type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
export type AnthropicBlock = Cached &
  (
    | AnthropicText
    | { type: 'image'; source: UrlSource | { type: 'base64'; media_type: ImageType; data: string } }
    | {
        type: 'document';
        source:
          | UrlSource
          | { type: 'base64'; media_type: 'application/pdf'; data: string }
          | { type: 'text'; media_type: 'text/plain'; data: string };
        title?: string;
      }
    | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
    | { type: 'tool_result'; tool_use_id: string; content: string }
  );
export interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: AnthropicBlock[];
}
export interface AnthropicTool extends Cached {
  name: string;
  description?: string;
  input_schema: { type: 'object'; [keyword: string]: unknown };
  strict?: boolean;
}
export type AnthropicToolChoice =
  | { type: 'auto' | 'any'; disable_parallel_tool_use?: boolean }
  | { type: 'tool'; name: string; disable_parallel_tool_use?: boolean }
  | { type: 'none' };

/** The parameters of `anthropic.messages.create`. The prompt's `provider_options` can add others. */
export interface AnthropicRequest {
  model: string;
  max_tokens: number;
  messages: AnthropicMessage[];
  system?: AnthropicText[];
  tools?: AnthropicTool[];
  tool_choice?: AnthropicToolChoice;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop_sequences?: string[];
  thinking?:
    | { type: 'enabled'; budget_tokens: number }
    | { type: 'adaptive'; display: 'summarized' }
    | { type: 'disabled' };
  output_config?: {
    effort?: 'low' | 'medium' | 'high' | 'xhigh';
    format?: { type: 'json_schema'; schema: Record<string, unknown> };
  };
}

const cached = (mark: ReturnType<typeof lastMark>): Cached =>
  mark === undefined ? {} : { cache_control: mark as NonNullable<Cached['cache_control']> };

/** The maximum number of cache marks for Anthropic. */
const MAX_CACHE_MARKS = 4;

/**
 * Converts a prompt to a request for Anthropic's messages: `anthropic.messages.create(request)`. It equals the request of the
 * service.
 * @throws VariablesError naming the variables that are missing or invalid
 * @throws UnsupportedError naming the field that Anthropic does not support
 */
export function toAnthropic(
  prompt: LoadedPrompt,
  variables: Variables = {},
  options: CallOptions = {},
): AnthropicRequest {
  const call = toCall(prompt, variables, options, ['anthropic']);
  const request = anthropicRequest(call);
  return remember(request, { ...call.about, ...(hasJsonTool(call) && { jsonTool: JSON_TOOL }) });
}

export function anthropicRequest(whole: Call): AnthropicRequest {
  const call = withMarksUpTo(whole, MAX_CACHE_MARKS).fitted;
  const traits = anthropicTraits(call.model);
  const thinking = thinkingFields(call, traits);
  const request = {
    model: call.model,
    ...messageFields(call),
    ...parameterFields(call, traits, thinking),
    ...toolFields(call, traits, thinking.thinking?.type === 'enabled'),
  };
  return withProviderOptions(request, 'anthropic', call);
}

function messageFields({ messages }: Call): Pick<AnthropicRequest, 'system' | 'messages'> {
  const system: AnthropicText[] = [];
  const sent: AnthropicMessage[] = [];
  const later = laterSystem(messages);
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' && !later.has(index)) {
      for (const { text, cache_control } of textsUpToMarks(message))
        system.push({ type: 'text', text, ...cached(cache_control) });
      continue;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks: AnthropicBlock[] =
      message.role === 'system'
        ? [
            {
              type: 'text',
              text: asUserText(textOf(partsOf(message.content))),
              ...cached(lastMark(message.content)),
            },
          ]
        : blocksOf(message, `messages.${index}.content`);
    const last = sent.at(-1);
    // Roles must alternate: consecutive messages of a role are merged.
    if (last?.role === role) last.content.push(...blocks);
    else sent.push({ role, content: blocks });
  }
  for (const message of sent) if (message.role === 'assistant') message.content.sort(byToolUse);
  const last = sent.at(-1)?.role === 'assistant' ? sent.at(-1)?.content.at(-1) : undefined;
  // Anthropic continues the assistant's last message, which must not end with a space.
  if (last?.type === 'text') last.text = last.text.trim();
  return { ...(system.length > 0 && { system }), messages: sent };
}

/** Tool uses come after all texts. */
const byToolUse = (a: AnthropicBlock, b: AnthropicBlock) =>
  Number(a.type === 'tool_use') - Number(b.type === 'tool_use');

function blocksOf(message: Exclude<ChatMessage, { role: 'system' }>, path: string): AnthropicBlock[] {
  if (message.role === 'tool')
    return message.content.map(({ id, output, cache_control }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: asText(output),
      ...given({ cache_control }),
    }));
  return partsOf<ContentPart>(message.content).flatMap((part, index): AnthropicBlock[] => {
    const at = `${path}.${index}`;
    const marked = given({ cache_control: part.cache_control });
    if (part.type === 'text')
      return part.text === '' && message.role === 'assistant' ? [] : [{ type: 'text', text: part.text, ...marked }];
    if (part.type === 'tool_call') return [{ ...toolUse(part, at), ...marked }];
    if (message.role === 'assistant')
      throw new UnsupportedError(at, 'Anthropic does not accept files in assistant messages');
    return [{ ...fileBlock(part, at), ...marked }];
  });
}

type ContentPart = Exclude<Extract<ChatMessage, { role: 'assistant' }>['content'], string>[number];

function toolUse({ id, name, input }: Extract<ContentPart, { type: 'tool_call' }>, path: string): AnthropicBlock {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new UnsupportedError(`${path}.input`, 'Anthropic accepts only an object as the input of a tool call');
  return { type: 'tool_use', id, name, input: input as Record<string, unknown> };
}

function fileBlock(file: FilePart, path: string): AnthropicBlock {
  const { media_type, filename, data = '', url } = file;
  const title = filename === undefined ? {} : { title: filename };
  if (media_type.startsWith('image/')) {
    if (url !== undefined) return { type: 'image', source: { type: 'url', url } };
    return { type: 'image', source: { type: 'base64', media_type: typeOf(file, path) as ImageType, data } };
  }
  if (media_type === 'application/pdf') {
    const source =
      url === undefined ? ({ type: 'base64', media_type, data } as const) : ({ type: 'url', url } as const);
    return { type: 'document', source, ...title };
  }
  if (media_type !== 'text/plain')
    throw new UnsupportedError(`${path}.media_type`, `Anthropic does not accept ${media_type}`);
  if (url !== undefined) throw new UnsupportedError(`${path}.url`, 'Anthropic accepts text/plain only as data');
  return { type: 'document', source: { type: 'text', media_type, data: decoded(data) }, ...title };
}

const JSON_TOOL = 'json';

/** Whether a response with a schema is requested as the input of a tool. */
function hasJsonTool({ parameters: { response_format }, model }: Call): boolean {
  if (response_format?.type !== 'json_schema') return false;
  return !(anthropicTraits(model).hasFormats && isStructured(response_format.json_schema.schema));
}

function toolFields(
  call: Call,
  traits: AnthropicTraits,
  hasBudget: boolean,
): Pick<AnthropicRequest, 'tools' | 'tool_choice'> {
  const { tools, toolChoice, parameters } = call;
  const isForcible = traits.takesForcedTools && !hasBudget;
  const made = tools.map(({ name, description, input_schema, strict, cache_control }) => ({
    name,
    ...given({ description }),
    input_schema: input_schema as AnthropicTool['input_schema'],
    ...(traits.hasFormats && given({ strict })),
    ...given({ cache_control }),
  }));
  if (parameters.response_format?.type === 'json_schema' && hasJsonTool(call)) {
    if (typeof toolChoice === 'object') throw forced(toolChoice.name, 'together with a response_format');
    if (toolChoice === 'required') throw forced(toolChoice, 'together with a response_format');
    const { schema } = parameters.response_format.json_schema;
    const json = {
      name: JSON_TOOL,
      description: 'Respond with a JSON object.',
      input_schema: schema as AnthropicTool['input_schema'],
    };
    const type = isForcible ? 'any' : 'auto';
    return {
      tools: toolChoice === 'none' ? [json] : [...made, json],
      tool_choice: { type, disable_parallel_tool_use: true },
    };
  }
  if (tools.length === 0) return {};
  const isForced = toolChoice === 'required' || typeof toolChoice === 'object';
  if (isForced && !isForcible)
    throw forced(typeof toolChoice === 'object' ? toolChoice.name : toolChoice, 'with this model or reasoning_effort');
  if (toolChoice === 'none') return { tools: made, tool_choice: { type: 'none' } };
  const single = isOneToolAtATime(call) && { disable_parallel_tool_use: true };
  if (toolChoice === undefined && !single) return { tools: made };
  const choice =
    typeof toolChoice === 'object'
      ? { type: 'tool' as const, name: toolChoice.name }
      : { type: toolChoice === 'required' ? ('any' as const) : ('auto' as const) };
  return { tools: made, tool_choice: { ...choice, ...single } };
}

const forced = (choice: string, when: string) =>
  new UnsupportedError('tool_choice', `Anthropic does not accept "${choice}" ${when}; use "auto"`);

type Thinking = Pick<AnthropicRequest, 'thinking'> & { effort?: 'low' | 'medium' | 'high' | 'xhigh' };

/** Shares of the model's maximum tokens. */
const BUDGETS = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9 };
const LEAST_BUDGET = 1024;

function thinkingFields({ parameters: { reasoning_effort: effort } }: Call, traits: AnthropicTraits): Thinking {
  if (effort === undefined) return {};
  if (effort === 'none') {
    if (traits.unthinking === 'low_effort') return { effort: 'low' };
    // Newer than the types of the official package.
    return { thinking: { type: traits.unthinking as 'disabled' } };
  }
  if (traits.adapts) {
    const taken = effort === 'minimal' ? 'low' : effort === 'xhigh' && !traits.hasXhigh ? 'high' : effort;
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: taken };
  }
  const budget = Math.max(LEAST_BUDGET, Math.round(traits.maxTokens * BUDGETS[effort]));
  return { thinking: { type: 'enabled', budget_tokens: Math.min(traits.maxTokens, budget) } };
}

function parameterFields(call: Call, traits: AnthropicTraits, { thinking, effort }: Thinking) {
  const { parameters } = call;
  const { temperature, top_p, top_k, max_tokens, response_format } = parameters;
  refuse(parameters, ['seed', 'frequency_penalty', 'presence_penalty'], 'Anthropic has no such parameter');
  if (!traits.samples) refuse(parameters, ['temperature', 'top_p', 'top_k'], 'this model does not support it');
  if (thinking !== undefined && thinking.type !== 'disabled')
    refuse(parameters, ['temperature', 'top_p', 'top_k'], 'Anthropic does not support it with a reasoning_effort');
  if (temperature !== undefined && temperature > 1)
    throw new UnsupportedError('parameters.temperature', 'Anthropic accepts at most 1');
  if (temperature !== undefined) refuse(parameters, ['top_p'], 'Anthropic does not support it with a temperature');
  if (response_format?.type === 'json_object')
    throw new UnsupportedError('parameters.response_format', 'Anthropic does not support json_object: use json_schema');
  // A thinking budget is added, never subtracted.
  const tokens = (max_tokens ?? traits.maxTokens) + (thinking?.type === 'enabled' ? thinking.budget_tokens : 0);
  if (traits.isKnown && (max_tokens ?? 0) > traits.maxTokens)
    throw new UnsupportedError('parameters.max_tokens', `this model accepts at most ${traits.maxTokens}`);
  const format =
    response_format?.type === 'json_schema' && !hasJsonTool(call)
      ? { type: 'json_schema' as const, schema: adaptedSchema(response_format.json_schema.schema) }
      : undefined;
  const output_config = given({ effort, format });
  return {
    max_tokens: traits.isKnown ? Math.min(tokens, traits.maxTokens) : tokens,
    ...given({ temperature, top_p, top_k, stop_sequences: stopsOf(parameters), thinking }),
    ...(Object.keys(output_config).length > 0 && { output_config }),
  };
}
