import { textsOf } from '../prompt-rules/prompt.ts';
import { TAG } from '../prompt-rules/template.ts';
import type { PromptMessage } from '../prompts/messages.ts';
import { messagesOf, textOf } from '../prompts/messages.ts';
import { parsePrompt, TemplateVariablesError, type Variables } from '../prompts/prompt.ts';
import type { IncludeSet, PromptContent } from '../prompts/prompt-content.ts';

/** A text of a prompt that can be rewritten: `template`, `messages.N` or `tools.NAME.description`. */
export type PartName = string;
export type PartTexts = Readonly<Record<PartName, string>>;

const MESSAGE = /^messages\.(\d{1,4})$/;
const TOOL = /^tools\.([A-Za-z0-9_-]{1,64})\.description$/;

/** The template; otherwise the system messages; otherwise the first user message. Empty if there is no text. */
export function defaultParts(content: PromptContent): PartName[] {
  if (content.template !== null) return ['template'];
  const ofRole = (role: string) =>
    (content.messages ?? []).flatMap((entry, index) =>
      'role' in entry && entry.role === role && messageText(entry) !== undefined ? [`messages.${index}`] : [],
    );
  const system = ofRole('system');
  return system.length > 0 ? system : ofRole('user').slice(0, 1);
}

/** The text of a part; undefined if the prompt has no such text. A message must have exactly one text. */
export function readPart(content: PromptContent, name: PartName): string | undefined {
  if (name === 'template') return content.template ?? undefined;
  const index = MESSAGE.exec(name)?.[1];
  const entry = index === undefined ? undefined : content.messages?.[Number(index)];
  if (entry !== undefined) return messageText(entry);
  const tool = TOOL.exec(name)?.[1];
  return content.tools?.find((each) => each.name === tool)?.description;
}

/** The texts of several parts. Missing ones are left out. */
export function readParts(content: PromptContent, names: readonly PartName[]): PartTexts {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = readPart(content, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** The content with these texts. Everything else stays the same. */
export function withParts(content: PromptContent, texts: PartTexts): PromptContent {
  const of = (name: PartName, text: string) => (Object.hasOwn(texts, name) ? (texts[name] ?? text) : text);
  return {
    ...content,
    template: content.template === null ? null : of('template', content.template),
    messages: content.messages?.map((entry, index) => withText(entry, (text) => of(`messages.${index}`, text))) ?? null,
    tools:
      content.tools?.map((tool) =>
        tool.description === undefined
          ? tool
          : { ...tool, description: of(`tools.${tool.name}.description`, tool.description) },
      ) ?? null,
  };
}

function messageText(entry: PromptMessage): string | undefined {
  if ('placeholder' in entry || entry.role === 'tool') return undefined;
  if (typeof entry.content === 'string') return entry.content;
  const texts = entry.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 1 ? texts[0] : undefined;
}

function withText(entry: PromptMessage, change: (text: string) => string): PromptMessage {
  if (messageText(entry) === undefined || 'placeholder' in entry) return entry;
  switch (entry.role) {
    case 'tool':
      return entry;
    case 'system':
      return { ...entry, content: changed(entry.content, change) };
    case 'user':
      return { ...entry, content: changed(entry.content, change) };
    case 'assistant':
      return { ...entry, content: changed(entry.content, change) };
  }
}

const changed = <Part extends { type: string }>(content: string | Part[], change: (text: string) => string) =>
  typeof content === 'string'
    ? change(content)
    : content.map((part) =>
        'text' in part && typeof part.text === 'string' ? { ...part, text: change(part.text) } : part,
      );

/** Everything that a model reads of a prompt: its texts and the descriptions of its tools. */
export function wordingOf(content: PromptContent): string {
  const tools = (content.tools ?? []).flatMap(({ description }) => description ?? []);
  return [...[...textsOf(content)].map(({ text }) => text), ...tools].join('\n');
}

/** An example shown in the prompt: its variables, and the right answer. */
export interface Shot {
  variables: Variables;
  answer: string;
}

/**
 * The content with examples as literal user and assistant messages before the first message that is not the system's. Each is filled
 * with the content's own wording. A template becomes a user message. Examples that don't fill the prompt are left out.
 */
export function withShots(content: PromptContent, includes: IncludeSet, shots: readonly Shot[]): PromptContent {
  const prompt = parsePrompt(content, includes);
  const shown = shots.flatMap(({ variables, answer }): PromptMessage[] => {
    const user = lastUserText(prompt, variables);
    if (user === undefined) return [];
    return [
      { role: 'user', content: literal(user) },
      { role: 'assistant', content: literal(answer) },
    ];
  });
  if (shown.length === 0) return content;
  const messages: PromptMessage[] =
    content.template === null ? (content.messages ?? []) : [{ role: 'user', content: content.template }];
  const first = messages.findIndex((entry) => !('role' in entry) || entry.role !== 'system');
  const at = first === -1 ? messages.length : first;
  return { ...content, template: null, messages: [...messages.slice(0, at), ...shown, ...messages.slice(at)] };
}

/** What the last user message says; undefined if it has more than text, or the variables don't fit. */
function lastUserText(prompt: ReturnType<typeof parsePrompt>, variables: Variables): string | undefined {
  try {
    const last = messagesOf(prompt.fill(variables)).findLast(({ role }) => role === 'user');
    if (last === undefined) return undefined;
    const isText = typeof last.content === 'string' || last.content.every(({ type }) => type === 'text');
    return isText ? textOf(last) : undefined;
  } catch (error) {
    if (error instanceof TemplateVariablesError) return undefined;
    throw error;
  }
}

/** A text in which nothing is replaced. */
const literal = (text: string) => text.replaceAll(TAG, (tag) => `\\${tag}`);
