import { z } from 'zod';
import {
  isBase64,
  isHttpsUrl,
  MAX_MESSAGES,
  MAX_PARTS,
  MAX_RENDERED_CHARS,
  MEDIA_TYPE,
  TOOL_NAME,
} from '../prompt-rules/limits.ts';
import { AnyJson, jsonObject, shortList } from '../text/json-object.ts';

export { MAX_MESSAGES, MAX_PARTS, MAX_RENDERED_CHARS };
/** The maximum size of a file in bytes, decoded or fetched. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** The name of a placeholder, input or template variable. */
export const VariableName = z
  .string('must be a string')
  .max(200, 'must be at most 200 characters')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and "_", not starting with a digit')
  .meta({ example: 'history' });

export const ToolName = z
  .string('must be a string')
  .regex(TOOL_NAME, 'must be 1–64 letters, digits, "_" or "-"')
  .meta({ example: 'get_weather' });

export const ToolCallId = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .meta({ example: 'call_1' });

/** Marks where a provider's cache of the prompt ends. It changes what a call costs, not what it means. */
export const CacheControl = z
  .strictObject({
    type: z.literal('ephemeral', 'must be "ephemeral"'),
    ttl: z.enum(['5m', '1h'], 'must be "5m" or "1h"').optional(),
  })
  .meta({
    id: 'CacheControl',
    description: 'The provider caches the prompt up to here. Left out if the provider has no such marks.',
  });
export type CacheControl = z.infer<typeof CacheControl>;
const cached = { cache_control: CacheControl.optional() };

export const TextPart = z
  .strictObject({
    type: z.literal('text', 'must be "text"'),
    text: z.string('must be a string').max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`),
    ...cached,
  })
  .meta({ id: 'TextPart' });

export const MediaType = z
  .string('must be a string')
  .max(200, 'must be at most 200 characters')
  .regex(MEDIA_TYPE, 'must be a media type such as "image/png"')
  .meta({ description: 'The media type of an image, a sound or a document.', example: 'image/png' });
export const FileName = z.string().min(1, 'must not be empty').max(255, 'must be at most 255 characters');
export const FileData = z
  .string('must be a string')
  .refine(isBase64, 'must be base64')
  .refine((data) => decodedBytes(data) <= MAX_FILE_BYTES, `must be at most ${MAX_FILE_BYTES} bytes`)
  .meta({ description: 'The file in base64.', example: 'iVBORw0KGgo=' });
export const FileUrl = z
  .string('must be a string')
  .max(8192, 'must be at most 8,192 characters')
  .refine(isHttpsUrl, 'must be an https address without credentials')
  .meta({ description: 'The address of the file.', example: 'https://example.com/photo.png' });

const file = { type: z.literal('file'), media_type: MediaType, filename: FileName.optional(), ...cached };

/** A file for a model: its bytes, or an address. */
const FilePart = z
  .strictObject({ ...file, data: FileData.optional(), url: FileUrl.optional() })
  .refine((part) => (part.data === undefined) !== (part.url === undefined), 'must have one of data and url')
  .meta({ id: 'FilePart' });

/** A file passed as a variable. */
export const FileValue = z
  .strictObject({
    media_type: file.media_type.optional(),
    filename: file.filename,
    data: FileData.optional(),
    url: FileUrl.optional(),
  })
  .refine((value) => (value.data === undefined) !== (value.url === undefined), 'must have one of data and url');
export type FileValue = z.infer<typeof FileValue>;

/** A file of a stored prompt, which can be passed with each run. */
const StoredFilePart = z
  .strictObject({ ...file, data: FileData.optional(), url: FileUrl.optional(), variable: VariableName.optional() })
  .refine(
    (part) => [part.data, part.url, part.variable].filter((source) => source !== undefined).length === 1,
    'must have one of data, url and variable',
  )
  .meta({ id: 'StoredFilePart' });

/** A model's request to run a tool. */
export const ToolCall = z
  .strictObject({ id: ToolCallId, name: ToolName, input: AnyJson.meta({ example: { city: 'Paris' } }) })
  .meta({ id: 'ToolCall' });
export type ToolCall = z.infer<typeof ToolCall>;

const ToolCallPart = z
  .strictObject({ type: z.literal('tool_call'), ...ToolCall.shape, ...cached })
  .meta({ id: 'ToolCallPart' });
const ToolResultPart = z
  .strictObject({
    type: z.literal('tool_result'),
    id: ToolCallId,
    name: ToolName,
    output: AnyJson.meta({ description: 'The result of the tool: any JSON.', example: { celsius: 21 } }),
    ...cached,
  })
  .meta({ id: 'ToolResultPart' });

const partsOf = <Part extends z.ZodType>(part: Part) =>
  z.union(
    [
      z.string().max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`),
      shortList(part, 'parts', { min: 1, max: MAX_PARTS }),
    ],
    'must be a string or a list of parts',
  );

/** A list that is checked before it is parsed would count as optional in the documentation. */
const withContent = (id: string) => ({
  id,
  override({ jsonSchema }: { jsonSchema: { required?: string[] | undefined } }) {
    jsonSchema.required = ['role', 'content'];
  },
});

const SpeakerName = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .meta({
    description: 'The speaker, if several have the same role. Sent to providers that support names in messages.',
    example: 'researcher',
  });
const Reasoning = z
  .string('must be a string')
  .max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`)
  .meta({ description: 'The reasoning before the response. Sent back to servers that accept it.' });

/** Parts of one response's reasoning; each may be of any size, and all count towards the length of the prompt. */
const MAX_REASONING_DETAILS = 1000;
export const ReasoningDetails = shortList(jsonObject(), 'reasoning details', { max: MAX_REASONING_DETAILS }).meta({
  description: 'The reasoning as OpenRouter returns it. Sent back to servers that accept it.',
});

const SystemMessage = z
  .strictObject({ role: z.literal('system'), content: partsOf(TextPart), name: SpeakerName.optional() })
  .meta(withContent('SystemMessage'));
const ToolMessage = z
  .strictObject({
    role: z.literal('tool'),
    content: shortList(ToolResultPart, 'tool_result parts', { min: 1, max: MAX_PARTS }),
  })
  .meta(withContent('ToolMessage'));

/** @param kind prefix of the schema names of messages that can contain files */
function messageOf<File extends typeof FilePart | typeof StoredFilePart>(filePart: File, kind: 'Chat' | '') {
  return z.discriminatedUnion(
    'role',
    [
      SystemMessage,
      z
        .strictObject({
          role: z.literal('user'),
          content: partsOf(z.discriminatedUnion('type', [TextPart, filePart], 'must be a text or a file part')),
          name: SpeakerName.optional(),
        })
        .meta(withContent(`${kind}UserMessage`)),
      z
        .strictObject({
          role: z.literal('assistant'),
          content: partsOf(
            z.discriminatedUnion('type', [TextPart, filePart, ToolCallPart], 'must be a text, file or tool_call part'),
          ),
          name: SpeakerName.optional(),
          reasoning_content: Reasoning.optional(),
          reasoning_details: ReasoningDetails.optional(),
        })
        .meta(withContent(`${kind}AssistantMessage`)),
      ToolMessage,
    ],
    'must be system, user, assistant or tool',
  );
}

/** A message sent to a model, with all variables filled. */
export const ChatMessage = messageOf(FilePart, 'Chat').meta({ id: 'ChatMessage' });
export type ChatMessage = z.infer<typeof ChatMessage>;
export type UserPart = Exclude<Extract<ChatMessage, { role: 'user' }>['content'], string>[number];
export type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;
export type AssistantPart = Exclude<AssistantMessage['content'], string>[number];

/** A message of a stored prompt: its texts are templates, its files may be variables. */
export const Message = messageOf(StoredFilePart, '').meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

/** Replaced by the messages passed as the variable of that name. */
export const MessagePlaceholder = z
  .strictObject({
    placeholder: VariableName,
    required: z.boolean().optional().meta({ description: 'Whether a run must give it. Default: true.' }),
  })
  .meta({ id: 'MessagePlaceholder' });
export type MessagePlaceholder = z.infer<typeof MessagePlaceholder>;

/** An entry of a stored prompt's `messages`. */
export const PromptMessage = z.union([Message, MessagePlaceholder], 'must be a message or a placeholder');
export type PromptMessage = z.infer<typeof PromptMessage>;

export const ChatMessages = shortList(ChatMessage, 'messages', { max: MAX_MESSAGES });

/** A filled prompt: a template's text, which is sent as one user message, or a list of messages. */
export type ModelInput = string | ChatMessage[];

/** The messages that a model gets. */
export function messagesOf(input: ModelInput): ChatMessage[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

/** A message's text parts, joined, without tool calls, results and files. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
