import { z } from 'zod';
import {
  type AssistantPart,
  type ChatMessage,
  FileName,
  FileUrl,
  MAX_PARTS,
  MAX_RENDERED_CHARS,
  TextPart,
  ToolCallId,
  ToolName,
  type UserPart,
} from '../../domain/prompts/messages.ts';
import { cacheMark, lastMark, MAX_FILLED_MESSAGES } from '../../domain/prompts/prompt.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { shortList } from '../../domain/text/json-object.ts';
import {
  CacheControlField,
  contentOf,
  DocumentUrl,
  ImageUrl,
  joinedText,
  SpeakerName,
  type TextContent,
} from '../chat-completions/content-schema.ts';
import { Arguments, MAX_PARTS_TOGETHER } from '../chat-completions/message-schema.ts';
import { parseItemId } from './item-ids.ts';

const { text } = TextPart.shape;

/** Accepts the text part of a response unchanged. */
const OutputText = z
  .strictObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(z.unknown()).optional().meta({ description: 'Ignored.' }),
    logprobs: z.array(z.unknown()).nullish().meta({ description: 'Ignored.' }),
    cache_control: CacheControlField,
  })
  .transform(({ text: said, cache_control }) => ({ type: 'text' as const, text: said, ...cacheMark(cache_control) }));

const Refusal = z
  .strictObject({ type: z.literal('refusal'), refusal: text, cache_control: CacheControlField })
  .transform(({ refusal, cache_control }) => ({ type: 'text' as const, text: refusal, ...cacheMark(cache_control) }));

const InputText = z
  .strictObject({ type: z.literal('input_text'), text, cache_control: CacheControlField })
  .transform(({ text: given, cache_control }) => ({ type: 'text' as const, text: given, ...cacheMark(cache_control) }));

const InputImage = z
  .strictObject({
    type: z.literal('input_image'),
    image_url: ImageUrl,
    detail: z.literal('auto', 'must be "auto": other values are not supported').nullish(),
    file_id: z.null('is not supported: send the image in image_url').optional(),
    cache_control: CacheControlField,
  })
  .transform(
    ({ image_url: image, cache_control }): UserPart => ({ type: 'file', ...image, ...cacheMark(cache_control) }),
  );

const InputFile = z
  .strictObject({
    type: z.literal('input_file'),
    file_data: DocumentUrl.optional(),
    file_url: FileUrl.nullish(),
    filename: FileName.nullish(),
    file_id: z.null('is not supported: send the file in file_data').optional(),
    cache_control: CacheControlField,
  })
  .transform(({ file_data: data, file_url: url, filename, cache_control }, context): UserPart => {
    const name = { ...(typeof filename === 'string' && { filename }), ...cacheMark(cache_control) };
    if (data !== undefined && !url) return { type: 'file', ...data, ...name };
    if (data === undefined && url) return { type: 'file', media_type: 'application/pdf', url, ...name };
    context.addIssue({ code: 'custom', message: 'must have one of file_data and file_url' });
    return z.NEVER;
  });

/** A variable in OpenAI's own prompt format. */
export const VariableInput = z.discriminatedUnion('type', [InputText, InputImage, InputFile]);

const Texts = contentOf(z.discriminatedUnion('type', [InputText, OutputText], 'must be an input_text part'));
const UserContent = contentOf(
  z.discriminatedUnion(
    'type',
    [InputText, InputImage, InputFile],
    'must be an input_text, input_image or input_file part',
  ),
);
const AssistantContent = contentOf(
  z.discriminatedUnion('type', [OutputText, InputText, Refusal], 'must be an output_text or refusal part'),
);

/** Fields of response items, ignored when the items are sent back. */
const ofItem = {
  id: z.string().nullish().meta({ description: 'Ignored.' }),
  status: z.string().nullish().meta({ description: 'Ignored.' }),
};
const ofMessage = {
  ...ofItem,
  type: z.literal('message').optional(),
  phase: z.string().nullish().meta({ description: 'Ignored.' }),
  name: SpeakerName.meta({ description: 'The speaker, if several have the same role.' }),
};
const named = (name: string | null | undefined) => (name ? { name } : {});

/** An input item, parsed without reference to other items. */
export type InputItem =
  | { kind: 'message'; message: ChatMessage }
  /** `speaker`: undefined if the item names none. */
  | { kind: 'said'; part: AssistantPart; speaker?: string | undefined }
  /** Empty if the reasoning is encrypted and only its provider can read it. */
  | { kind: 'reasoning'; text: string }
  | { kind: 'output'; callId: string; output: string; mark: ReturnType<typeof cacheMark> }
  | { kind: 'reference'; id: string; executionId: string; toolCall: number | undefined };

const said = (part: AssistantPart, speaker?: string): InputItem => ({ kind: 'said', part, speaker });

const MessageItem = z.discriminatedUnion(
  'role',
  [
    z
      .strictObject({ ...ofMessage, role: z.literal(['system', 'developer']), content: Texts })
      .transform(
        ({ content, name }): InputItem => ({ kind: 'message', message: { role: 'system', content, ...named(name) } }),
      ),
    z
      .strictObject({ ...ofMessage, role: z.literal('user'), content: UserContent })
      .transform(
        ({ content, name }): InputItem => ({ kind: 'message', message: { role: 'user', content, ...named(name) } }),
      ),
    z
      .strictObject({ ...ofMessage, role: z.literal('assistant'), content: AssistantContent })
      .transform(
        ({ content, name }): InputItem =>
          said({ type: 'text', text: joinedText(content), ...cacheMark(lastMark(content)) }, name || undefined),
      ),
  ],
  'must be system, developer, user or assistant',
);

const FunctionCallItem = z
  .strictObject({
    ...ofItem,
    type: z.literal('function_call'),
    call_id: ToolCallId,
    name: ToolName,
    arguments: Arguments,
  })
  .transform(
    ({ call_id: id, name, arguments: input }): InputItem =>
      said({ type: 'tool_call', id, name, input: input satisfies JsonValue }),
  );

const FunctionOutputItem = z
  .strictObject({
    ...ofItem,
    type: z.literal('function_call_output'),
    call_id: ToolCallId,
    output: Texts,
    name: z.string().nullish().meta({ description: 'Ignored: the function_call determines the function.' }),
  })
  .transform(
    ({ call_id: callId, output }): InputItem => ({
      kind: 'output',
      callId,
      output: joinedText(output satisfies z.output<typeof TextContent>),
      mark: cacheMark(lastMark(output)),
    }),
  );

/** The summary is ignored: it is not the reasoning itself. */
const ReasoningItem = z
  .strictObject({
    ...ofItem,
    type: z.literal('reasoning'),
    summary: z.array(z.unknown()).nullish().meta({ description: 'Ignored.' }),
    content: shortList(z.strictObject({ type: z.literal('reasoning_text'), text }), 'parts', {
      max: MAX_PARTS,
    }).nullish(),
    encrypted_content: z.string().nullish().meta({ description: 'Ignored.' }),
  })
  .transform(
    ({ content }): InputItem => ({ kind: 'reasoning', text: (content ?? []).map((part) => part.text).join('\n\n') }),
  );

const ReferenceItem = z
  .strictObject({
    type: z.literal('item_reference'),
    id: z.string('must be a string').max(200, 'must be at most 200 characters'),
  })
  .transform(({ id }, context): InputItem => {
    const item = parseItemId(id);
    if (item !== undefined) return { kind: 'reference', id, ...item };
    context.addIssue({ code: 'custom', message: 'does not match an item of a response', path: ['id'] });
    return z.NEVER;
  });

const TypedItem = z.discriminatedUnion(
  'type',
  [FunctionCallItem, FunctionOutputItem, ReasoningItem, ReferenceItem],
  'must be message, function_call, function_call_output, reasoning or item_reference: others are not supported',
);

/** A message can omit its type, so a discriminated union on the type is not enough. */
const Item = z.unknown().transform((value, context): InputItem => {
  const isMessage = [undefined, 'message'].includes(Object(value).type) && Object(value).role !== undefined;
  const parsed = (isMessage ? MessageItem : TypedItem).safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

function partsIn(items: unknown): number {
  let parts = 0;
  for (const item of Array.isArray(items) ? items : [])
    for (const list of [Object(item).content, Object(item).output]) if (Array.isArray(list)) parts += list.length;
  return parts;
}

const BoundedItems = z.preprocess(
  (items, context) => {
    if (partsIn(items) <= MAX_PARTS_TOGETHER) return items;
    context.addIssue({ code: 'custom', message: `must have at most ${MAX_PARTS_TOGETHER} parts together` });
    return z.NEVER;
  },
  shortList(Item, 'items', { max: MAX_FILLED_MESSAGES }),
);

/** `input` in the format of OpenAI's Responses API: a user's text, or a list of items. */
export const Input = z
  .unknown()
  .transform((value, context): InputItem[] => {
    if (typeof value === 'string' && value.length <= MAX_RENDERED_CHARS)
      return [{ kind: 'message', message: { role: 'user', content: value } }];
    const parsed = BoundedItems.safeParse(value);
    if (parsed.success) return parsed.data;
    if (typeof value === 'string') {
      context.addIssue({ code: 'custom', message: `must be at most ${MAX_RENDERED_CHARS} characters` });
      return z.NEVER;
    }
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  })
  .meta({
    override: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' }, maxItems: MAX_FILLED_MESSAGES }],
      description:
        "Appended to the prompt's own messages: a user's text, or items: messages (`input_text`, `input_image`, `input_file`, `output_text`), `function_call`, `function_call_output`, `reasoning` and `item_reference`.",
    },
  });
