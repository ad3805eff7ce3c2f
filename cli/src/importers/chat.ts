import { findLongNumber } from '../../../src/domain/prompt-rules/number-digits.ts';
import { isObject, type Json, listOf, shown, storableObject, textOf } from '../json.ts';
import { NameClashError, type VariableNames } from '../names.ts';
import type { PromptMessage, PromptTool } from '../prompt-version.ts';
import type { Thing } from './report.ts';
import { escapeText, type Piece, TemplateError, type TemplateSyntax, translate } from './template-text.ts';

/** How to read the texts of a chat. */
export interface ChatReader {
  /** `null` if there are no variables. */
  syntax: TemplateSyntax | null;
  names: VariableNames;
  /** Called for variables with another name here. */
  onRename: (from: string, to: string) => void;
  /** Called for anything else that changes. */
  onChange: (what: string) => void;
  /** Extracts includes from a text. */
  split?: (text: string) => Piece[];
}

/** Reads the texts of a thing, and notes changes with it. */
export function chatReader(thing: Thing, names: VariableNames, syntax: ChatReader['syntax']): ChatReader {
  return {
    syntax,
    names,
    onRename: (from, to) => thing.change(`the variable "${from}" is called "${to}"`),
    onChange: (what) => thing.change(what),
  };
}

const ROLES: Record<string, 'system' | 'user' | 'assistant' | 'tool'> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  tool: 'tool',
};

/** @throws TemplateError */
export function readText(text: string, reader: ChatReader): string {
  if (reader.syntax === null) return escapeText(text);
  const { text: translated, renamed } = translate(reader.split?.(text) ?? text, reader.syntax, reader.names);
  for (const [from, to] of renamed) reader.onRename(from, to);
  return translated;
}

/** The name of a variable outside of a text. @throws TemplateError */
export function readVariable(name: string, { names, onRename }: ChatReader): string {
  try {
    const own = names.of(name);
    if (own !== name) onRename(name, own);
    return own;
  } catch (error) {
    throw error instanceof NameClashError ? new TemplateError(error.message) : error;
  }
}

const IMAGE_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/**
 * An image by its address. The type follows from the file name, or from the address if it contains the data.
 * @throws TemplateError if the type is unknown, or the address is a template
 */
export function imagePart(address: string): Json {
  if (address.includes('{')) throw new TemplateError('an image has a template as its address');
  const [, dataType, data] = /^data:(image\/[a-z+.-]+);base64,([A-Za-z0-9+/]+={0,2})$/.exec(address) ?? [];
  if (dataType !== undefined && data !== undefined) return { type: 'file', media_type: dataType, data };
  const extension = URL.parse(address)?.pathname.split('.').at(-1)?.toLowerCase() ?? '';
  const mediaType = Object.hasOwn(IMAGE_TYPES, extension) ? IMAGE_TYPES[extension] : undefined;
  if (mediaType === undefined || !address.startsWith('https://'))
    throw new TemplateError('an image is not an https address that ends in png, jpg, gif or webp');
  return { type: 'file', media_type: mediaType, url: address };
}

/** Converts a content part from OpenAI's formats. @throws TemplateError */
function readPart(part: unknown, reader: ChatReader): Json {
  if (typeof part === 'string') return { type: 'text', text: readText(part, reader) };
  if (!isObject(part)) throw new TemplateError('a message has a part that is neither text nor object');
  const type = part['type'];
  if ((type === 'text' || type === 'input_text' || type === 'output_text') && typeof part['text'] === 'string')
    return { type: 'text', text: readText(part['text'], reader) };
  if (type === 'image_url' || type === 'input_image') {
    const address = isObject(part['image_url']) ? part['image_url']['url'] : part['image_url'];
    if (typeof address === 'string') return imagePart(address);
  }
  throw new TemplateError(`a message has a part of the type "${shown(type)}"`);
}

/** Converts tool calls from OpenAI's format. @throws TemplateError */
function readToolCalls(calls: unknown[]): Json[] {
  return calls.map((call) => {
    const { id, function: called } = isObject(call) ? call : {};
    const { name, arguments: input } = isObject(called) ? called : {};
    let parsed: unknown = input;
    try {
      // If it would lose digits it stays a string, as in the service.
      if (typeof input === 'string' && findLongNumber(input) === undefined) parsed = JSON.parse(input);
    } catch {
      throw new TemplateError('a tool call has arguments that are not valid JSON');
    }
    if (typeof id !== 'string' || typeof name !== 'string') throw new TemplateError('a tool call has no id or no name');
    return { type: 'tool_call', id, name, input: parsed ?? {} };
  });
}

/**
 * Converts messages from OpenAI's chat format.
 * @throws TemplateError naming what prompts do not support
 */
export function readMessages(messages: unknown[], reader: ChatReader): PromptMessage[] {
  const toolNames = new Map<string, string>();
  const read = messages.map((message): Json => {
    if (!isObject(message)) throw new TemplateError('a message is not an object');
    const said = shown(message['role']);
    const role = Object.hasOwn(ROLES, said.toLowerCase()) ? ROLES[said.toLowerCase()] : undefined;
    if (role === undefined) throw new TemplateError(`a message has the role "${said}"`);
    if (said.toLowerCase() === 'developer') reader.onChange('developer messages are system messages');
    const { content } = message;
    if (role === 'tool') {
      const id = textOf(message['tool_call_id']) ?? '';
      const name = textOf(message['name']) ?? toolNames.get(id);
      if (name === undefined) throw new TemplateError('a tool message answers no tool call');
      return { role, content: [{ type: 'tool_result', id, name, output: content ?? null }] };
    }
    const calls = readToolCalls(listOf(message['tool_calls']));
    for (const { id, name } of calls) toolNames.set(textOf(id) ?? '', textOf(name) ?? '');
    if (typeof content === 'string' && calls.length === 0) return { role, content: readText(content, reader) };
    const own = typeof content === 'string' ? (content === '' ? [] : [content]) : listOf(content);
    const parts = [...own.map((part) => readPart(part, reader)), ...calls];
    if (parts.length === 0) throw new TemplateError('a message has no content');
    return { role, content: parts };
  });
  // Validated later, together with the version.
  return read as PromptMessage[];
}

/**
 * Converts tools from OpenAI's formats: with a nested function, or flat.
 * @throws TemplateError for a tool that a provider would run itself
 */
export function readTools(tools: unknown[]): PromptTool[] {
  return tools.map((tool) => {
    const outer = isObject(tool) ? tool : {};
    const { name, description, parameters, strict } = isObject(outer['function']) ? outer['function'] : outer;
    if (typeof name !== 'string') throw new TemplateError(`a tool has the type "${shown(outer['type'])}"`);
    return {
      name,
      ...(typeof description === 'string' && description !== '' && { description }),
      input_schema: isObject(parameters) ? storableObject(parameters) : { type: 'object', properties: {} },
      ...(typeof strict === 'boolean' && { strict }),
    };
  });
}
