import type { ContentBlock, GetPromptResult, Prompt, PromptMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ApiError } from '../domain/errors.ts';
import type { ChatMessage } from '../domain/prompts/messages.ts';
import { parsePrompt, TemplateVariablesError, type Variables } from '../domain/prompts/prompt.ts';
import type { PromptContent } from '../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { PromptReference } from '../http/fields.ts';
import type { McpCall } from './mcp-call.ts';

const PAGE = '50';

const Inputs = z.record(z.string(), z.looseObject({ type: z.string(), description: z.string().optional() })).nullable();
const ListedPrompt = z.object({
  name: z.string(),
  version: z.int(),
  description: z.string().nullable(),
  variables: z.array(z.string()),
  inputs: Inputs,
  messages: z.array(z.looseObject({ placeholder: z.string().optional(), required: z.boolean().optional() })).nullable(),
});
const Page = z.object({ data: z.array(ListedPrompt), next_cursor: z.string().nullable() });

/** The title of a prompt without a description. */
const titleOf = ({ name, version }: { name: string; version: number }) => `The prompt ${name}, version ${version}`;

/** Lists the prompts of the workspace in their latest versions, with their variables as arguments. */
export async function listPrompts(
  call: McpCall,
  cursor: string | undefined,
): Promise<{ prompts: Prompt[]; nextCursor?: string }> {
  const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
  const { data, next_cursor: next } = Page.parse(await call.run('listPrompts', { query }));
  const prompts = data.map((prompt) => ({
    name: prompt.name,
    description: prompt.description ?? titleOf(prompt),
    arguments: prompt.variables.map((name) => argumentOf(name, prompt)),
  }));
  return { prompts, ...(next !== null && { nextCursor: next }) };
}

function argumentOf(name: string, { inputs, messages }: z.output<typeof ListedPrompt>) {
  const input = inputs?.[name];
  const isOptional = messages?.some(({ placeholder, required }) => placeholder === name && required === false) ?? false;
  const type = input === undefined || input.type === 'string' ? undefined : `As JSON: ${input.type}.`;
  const description = [input?.description, type].filter(Boolean).join(' ');
  return {
    name,
    ...(description !== '' && { description }),
    required: input?.['required'] === undefined ? input?.['default'] === undefined && !isOptional : !!input['required'],
  };
}

const Resolved = z.object({
  data: z.tuple([
    z.object({
      prompt: z
        .looseObject({ description: z.string().nullable(), archived: z.boolean(), version: z.int() })
        .transform((prompt) => prompt as typeof prompt & PromptContent)
        .optional(),
      includes: z.record(z.string(), z.object({ name: z.string(), version: z.int(), template: z.string() })).optional(),
      error: z.object({ code: z.enum(['not_found', 'invalid_request']), message: z.string() }).optional(),
    }),
  ]),
});

/**
 * Fills a prompt like the API does.
 * @param reference `name`, `name@3` or `name@label`
 * @param given strings; those for variables of other types are JSON
 * @throws ApiError `invalid_request`, `not_found`, `prompt_archived`
 */
export async function renderPrompt(
  call: McpCall,
  reference: string,
  given: Record<string, string>,
): Promise<GetPromptResult> {
  const parsed = PromptReference.safeParse(reference);
  if (!parsed.success) throw new ApiError('invalid_request', `name: ${parsed.error.issues[0]?.message}`);
  const { promptName: name, ...selector } = parsed.data;
  const body = { prompts: [{ name, ...selector }] };
  const [{ prompt, includes = {}, error }] = Resolved.parse(await call.run('resolvePrompts', { body })).data;
  if (error !== undefined) throw new ApiError(error.code, error.message);
  if (prompt === undefined) throw new ApiError('invalid_request', `The prompt "${name}" is too large to be shown.`);
  if (prompt.archived) throw new ApiError('prompt_archived', `The prompt "${name}" is archived. Restore it to use it.`);
  const filled = fill(prompt, includes, given);
  const messages: ChatMessage[] = typeof filled === 'string' ? [{ role: 'user', content: filled }] : filled;
  return {
    description: prompt.description ?? titleOf({ name, ...prompt }),
    messages: messages.flatMap(asPromptMessages),
  };
}

function fill(prompt: PromptContent, includes: Parameters<typeof parsePrompt>[1], given: Record<string, string>) {
  const variables: Variables = {};
  for (const [name, text] of Object.entries(given))
    Object.defineProperty(variables, name, { value: readArgument(prompt, name, text), enumerable: true });
  try {
    return parsePrompt(prompt, includes).fill(variables);
  } catch (error) {
    if (!(error instanceof TemplateVariablesError)) throw error;
    throw new ApiError('invalid_request', error.message, { details: error.details });
  }
}

/** Prompt arguments are strings in the protocol. */
function readArgument({ inputs, messages }: PromptContent, name: string, text: string): JsonValue {
  const input = inputs !== null && Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  const isPlaceholder = messages?.some((entry) => 'placeholder' in entry && entry.placeholder === name) ?? false;
  if (!isPlaceholder && (input === undefined || input.type === 'string')) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The type check of the variable reports the problem.
    return text;
  }
}

/** The protocol has two roles and one content per message: system text becomes a user message at the start. */
function asPromptMessages({ role, content }: ChatMessage): PromptMessage[] {
  const parts: unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [...content];
  return parts.map((part) => ({ role: role === 'assistant' ? 'assistant' : 'user', content: asContent(part) }));
}

const Text = z.object({ type: z.literal('text'), text: z.string() });
const File = z.object({
  type: z.literal('file'),
  media_type: z.string().optional(),
  filename: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
});

function asContent(part: unknown): ContentBlock {
  const text = Text.safeParse(part);
  if (text.success) return text.data;
  const file = File.safeParse(part);
  if (!file.success) return { type: 'text', text: JSON.stringify(part) };
  const { media_type: mimeType = 'application/octet-stream', filename = 'file', data, url } = file.data;
  if (url !== undefined) return { type: 'resource_link', uri: url, name: filename, mimeType };
  if (data === undefined) return { type: 'text', text: JSON.stringify(part) };
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  return { type: 'resource', resource: { uri: `file:///${encodeURIComponent(filename)}`, mimeType, blob: data } };
}
