import { z } from 'zod';
import {
  CacheControl,
  FileData,
  FileName,
  FileUrl,
  MAX_PARTS,
  MAX_RENDERED_CHARS,
  MediaType,
  TextPart,
  type UserPart,
} from '../../domain/prompts/messages.ts';
import { cacheMark } from '../../domain/prompts/prompt.ts';
import { shortList } from '../../domain/text/json-object.ts';

const AUDIO_TYPES = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const;

/** Parses a base64 data URL (RFC 2397); undefined if it is not one. */
function parseDataUrl(text: string): { mediaType: string; data: string } | undefined {
  // The data can be megabytes long, so no regular expression runs over it.
  const comma = text.slice(0, 2_000).indexOf(',');
  const mediaType = /^data:([^;,]{1,200})(?:;[^;,]{1,200}){0,5};base64$/i.exec(text.slice(0, Math.max(comma, 0)))?.[1];
  return mediaType === undefined ? undefined : { mediaType: mediaType.toLowerCase(), data: text.slice(comma + 1) };
}

/** Parses a data URL of an allowed media type into its type and base64 data. */
function dataUrl(context: z.core.$RefinementCtx, text: string, types: RegExp, expected: string) {
  const given = parseDataUrl(text);
  const data = FileData.safeParse(given?.data);
  const type = MediaType.safeParse(given?.mediaType);
  if (given !== undefined && data.success && type.success && types.test(type.data))
    return { media_type: type.data, data: data.data };
  const isBadData = given !== undefined && !data.success;
  const message = isBadData ? `has data that ${data.error.issues[0]?.message}` : expected;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

export const ImageUrl = z
  .string('must be a string')
  .transform((text, context) => {
    if (text.slice(0, 5).toLowerCase() === 'data:')
      return dataUrl(context, text, /^image\//, 'must be a data URL of an image, such as "data:image/png;base64,…"');
    const url = FileUrl.safeParse(text);
    if (url.success) return { media_type: 'image/*', url: url.data };
    context.addIssue({ code: 'custom', message: 'must be an https address without credentials, or a data URL' });
    return z.NEVER;
  })
  .meta({ description: 'An https address, or a data URL with base64.', example: 'https://example.com/photo.png' });

/** The speaker, if several have the same role. */
export const SpeakerName = z.string('must be a string').max(200, 'must be at most 200 characters').nullish();

/** Not an OpenAI field: gateways to Anthropic accept it in parts, messages and tools. Null is ignored. */
export const CacheControlField = CacheControl.nullish();

const ImagePart = z
  .strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({
      url: ImageUrl,
      detail: z.literal('auto', 'must be "auto": other values are not supported').nullish(),
    }),
    cache_control: CacheControlField,
  })
  .transform(
    ({ image_url: { url }, cache_control }): UserPart => ({ type: 'file', ...url, ...cacheMark(cache_control) }),
  );

const AudioPart = z
  .strictObject({
    type: z.literal('input_audio'),
    input_audio: z.strictObject({
      data: FileData,
      format: z.enum(['wav', 'mp3'], 'must be "wav" or "mp3"'),
    }),
    cache_control: CacheControlField,
  })
  .transform(
    ({ input_audio: { data, format }, cache_control }): UserPart => ({
      type: 'file',
      media_type: AUDIO_TYPES[format],
      data,
      ...cacheMark(cache_control),
    }),
  );

export const DocumentUrl = z
  .string('is required: a data URL')
  .transform((text, context) =>
    dataUrl(context, text, /./, 'must be a data URL, such as "data:application/pdf;base64,…"'),
  )
  .meta({ description: 'A data URL with base64.', example: 'data:application/pdf;base64,JVBERi0=' });

const DocumentPart = z
  .strictObject({
    type: z.literal('file'),
    file: z.strictObject({
      file_data: DocumentUrl,
      filename: FileName.nullish(),
      file_id: z.null('is not supported: send the file in file_data').optional(),
    }),
    cache_control: CacheControlField,
  })
  .transform(
    ({ file: { file_data: file, filename }, cache_control }): UserPart => ({
      type: 'file',
      ...file,
      ...cacheMark(cache_control),
      ...(typeof filename === 'string' && { filename }),
    }),
  );

export const contentOf = <Part extends z.ZodType>(part: Part) =>
  z.union(
    [
      z.string().max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`),
      shortList(part, 'parts', { min: 1, max: MAX_PARTS }),
    ],
    'must be a string or a list of parts',
  );

/** Content of text-only messages. */
export const TextContent = contentOf(TextPart);

/** Content of a user message: text, image, audio and document parts, converted to internal parts. */
export const UserContent = contentOf(
  z.discriminatedUnion(
    'type',
    [TextPart, ImagePart, AudioPart, DocumentPart],
    'must be a string, image_url, input_audio or file part',
  ),
);

/** Content of an assistant message: its text parts; a refusal counts as text. */
export const AssistantContent = contentOf(
  z.discriminatedUnion(
    'type',
    [
      TextPart,
      z
        .strictObject({ type: z.literal('refusal'), refusal: TextPart.shape.text, cache_control: CacheControlField })
        .transform(({ refusal, cache_control }) => ({
          type: 'text' as const,
          text: refusal,
          ...cacheMark(cache_control),
        })),
    ],
    'must be a string or refusal part',
  ),
);

/** Puts the cache mark of a message on the last part of its content. */
export function withMark<Part extends { cache_control?: CacheControl | undefined }>(
  content: string | Part[],
  mark: z.output<typeof CacheControlField>,
): string | (Part | z.output<typeof TextPart>)[] {
  if (!mark || content === '') return content;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, cache_control: mark } : part));
}

/** Joins the text parts of a content. */
export function joinedText(content: z.output<typeof TextContent>): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}
