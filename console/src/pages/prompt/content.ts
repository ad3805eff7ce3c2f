import type { Inputs, Parameters, Prompt, PromptMessage, UpdatePrompt } from '../../api-types.ts';
import { formatJson } from '../../format.ts';
import { t } from '../../strings.ts';

/** A version during editing: JSON fields without a form are text, which may be temporarily invalid. */
export interface Content {
  form: 'template' | 'messages';
  template: string;
  messages: EditedMessage[];
  model: string;
  fallback_models: string[];
  parameters: Parameters;
  inputs: Inputs;
  /** JSON; empty for none. */
  tools: string;
  tool_choice: string;
  config: string;
  description: string;
}

/** `key` identifies messages while they are moved. `json` contains parts that the text editor does not show. */
export interface EditedMessage {
  key: number;
  role: 'system' | 'user' | 'assistant' | 'tool' | 'placeholder';
  text: string;
  isJson: boolean;
  required: boolean;
  /** Fields other than role and content, which have no form and stay unchanged. */
  others?: Record<string, unknown>;
}

let nextKey = 0;

export const newMessage = (role: EditedMessage['role'], text = ''): EditedMessage => ({
  key: nextKey++,
  role,
  text,
  isJson: role === 'tool',
  required: true,
});

/** Stored messages with new keys, because theirs belong to another page. */
export const renewed = (messages: readonly EditedMessage[]): EditedMessage[] =>
  messages.map((message) => ({ ...message, key: nextKey++ }));

/** Stored content, ready for editing. */
export const withNewKeys = (content: Content): Content => ({ ...content, messages: renewed(content.messages) });

/** A complete message, ready for editing. */
export function toEdited(message: PromptMessage): EditedMessage {
  if ('placeholder' in message)
    return { ...newMessage('placeholder', message.placeholder), required: message.required ?? true };
  const { role, content, ...others } = message;
  const kept = Object.keys(others).length > 0 && { others };
  if (typeof content === 'string') return { ...newMessage(role, content), isJson: false, ...kept };
  const [part] = content;
  if (content.length === 1 && part?.type === 'text' && part.cache_control === undefined)
    return { ...newMessage(role, part.text), isJson: false, ...kept };
  return { ...newMessage(role, formatJson(content)), isJson: true, ...kept };
}

/** An invalid JSON field. */
export class ContentError extends Error {
  constructor(where: string, cause: unknown) {
    super(t(`${where} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`));
    this.name = 'ContentError';
  }
}

function parse(where: string, json: string): unknown {
  if (json.trim() === '') return null;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ContentError(where, error);
  }
}

/** The fields that a message keeps after its role was changed. */
function fitting(role: EditedMessage['role'], others: Record<string, unknown> = {}): Record<string, unknown> {
  if (role === 'assistant') return others;
  return role !== 'tool' && others['name'] !== undefined ? { name: others['name'] } : {};
}

/** @throws ContentError */
function toMessage(message: EditedMessage, index: number): unknown {
  const { role, text, isJson, required, others } = message;
  if (role === 'placeholder') return { placeholder: text.trim(), ...(!required && { required }) };
  return { role, content: isJson ? parse(t(`Message ${index + 1}`), text) : text, ...fitting(role, others) };
}

const jsonText = (value: unknown) => (value === null || value === undefined ? '' : formatJson(value));

export function contentOf(prompt: Prompt): Content {
  return {
    form: prompt.messages === null ? 'template' : 'messages',
    template: prompt.template ?? '',
    messages: (prompt.messages ?? []).map(toEdited),
    model: prompt.model,
    fallback_models: prompt.fallback_models,
    parameters: prompt.parameters,
    inputs: prompt.inputs ?? {},
    tools: jsonText(prompt.tools),
    tool_choice: typeof prompt.tool_choice === 'string' ? prompt.tool_choice : jsonText(prompt.tool_choice),
    config: jsonText(prompt.config),
    description: prompt.description ?? '',
  };
}

function parseToolChoice(choice: string): unknown {
  if (choice === '') return null;
  return choice.startsWith('{') ? parse(t('Tool choice'), choice) : choice;
}

/** Fields of a version's content; the others concern the request. */
type ContentField = Exclude<keyof UpdatePrompt, 'commit_message' | 'base_version'>;

/**
 * The whole version in API format.
 * @throws ContentError if a JSON field is invalid
 */
export function toBody(content: Content): Record<ContentField, unknown> {
  const { form, template, messages } = content;
  return {
    template: form === 'template' ? template : undefined,
    messages: form === 'messages' ? messages.map(toMessage) : undefined,
    model: content.model.trim(),
    fallback_models: content.fallback_models.map((model) => model.trim()).filter((model) => model !== ''),
    parameters: content.parameters,
    inputs: Object.keys(content.inputs).length === 0 ? null : content.inputs,
    tools: parse(t('Tools'), content.tools),
    tool_choice: parseToolChoice(content.tool_choice.trim()),
    config: parse(t('Config'), content.config),
    description: content.description.trim() === '' ? null : content.description,
  };
}

/**
 * The differences between two contents for `PUT /prompts/{name}`.
 * @throws ContentError
 */
export function changesOf(before: Content, after: Content): UpdatePrompt {
  const old = toBody(before);
  return Object.fromEntries(
    Object.entries(toBody(after)).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(old[name as ContentField]),
    ),
  );
}

/** The text of a prompt, or its messages one after the other, for reading and comparing. */
export function wordsOf({ template, messages }: Pick<Prompt, 'template' | 'messages'>): string {
  if (template !== null) return template;
  return (messages ?? [])
    .map((message) =>
      'placeholder' in message
        ? `[placeholder] ${message.placeholder}${message.required === false ? ' (optional)' : ''}`
        : `[${message.role}]\n${typeof message.content === 'string' ? message.content : formatJson(message.content)}`,
    )
    .join('\n\n');
}

/** A version as one text, for reading and comparing. */
export function textOf(prompt: Prompt): string {
  const settings = Object.entries({
    fallback_models: prompt.fallback_models.length > 0 ? prompt.fallback_models : null,
    parameters: Object.keys(prompt.parameters).length > 0 ? prompt.parameters : null,
    inputs: prompt.inputs,
    tools: prompt.tools,
    tool_choice: prompt.tool_choice,
    config: prompt.config,
  }).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${formatJson(value)}`]));
  return [wordsOf(prompt), '', `model: ${prompt.model}`, ...settings].join('\n');
}

/** The names in braces in a text, in order. */
export function placeholdersIn(text: string): string[] {
  const found = text.matchAll(/(?<!\\)\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}
