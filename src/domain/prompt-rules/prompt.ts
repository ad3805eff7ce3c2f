import { MAX_FILLED_MESSAGES, MAX_RENDERED_CHARS } from './limits.ts';
import { orderFault } from './message-order.ts';
import { readValue, type Value, type Variable, type Variables } from './prompt-values.ts';
import { Filling, includesIn, Template, templateParser } from './template.ts';
import type {
  ErrorDetail,
  IncludeRef,
  IncludeSet,
  Message,
  MessagePlaceholder,
  PromptContent,
  PromptMessage,
  ValueChecks,
} from './types.ts';

/** The maximum number of variables named in one error: a template may have tens of thousands. */
const MAX_DETAILS = 1_000;

/** Variables that can't fill the prompt: which, and why. */
export class TemplateVariablesError extends Error {
  readonly details: ErrorDetail[];

  constructor(details: ErrorDetail[]) {
    super(details.map((detail) => `${detail.path}: ${detail.message}`).join('; '));
    this.name = 'TemplateVariablesError';
    this.details = details;
  }
}

/** A parsed prompt, for any number of runs. */
export interface Prompt<Chat extends Message> {
  /**
   * Names of all its variables, each once, in order of appearance: in placeholders of its texts and their includes, lists of
   * messages, and files; then variables that are only declared.
   */
  names: readonly string[];
  /**
   * Variables that are missing or don't fit, without filling anything in.
   * @param limit the maximum number named. Default: 1,000
   */
  faults(variables: Variables, limit?: number): ErrorDetail[];
  /** The maximum number of characters once filled. @param valueChars of all its variables as JSON */
  maxChars(valueChars: number): number;
  /**
   * Fills the prompt in one pass: text from a value is never expanded again. Extra variables are ignored.
   * @param appended messages added after the prompt's own
   * @returns the text of a template; a list of messages if the prompt has some or some are appended
   * @throws TemplateVariablesError naming the variables that are missing or don't fit; if the result is longer than
   * {@link MAX_RENDERED_CHARS}; if no provider would accept the resulting messages
   */
  fill(variables: Variables, appended?: Chat[]): string | Chat[];
}

/** The messages of a filled prompt, each with its origin. */
interface Filled<Chat extends Message> {
  messages: Chat[];
  paths: string[];
}

/** A message whose texts are parsed. */
type Part = Exclude<Message['content'], string>[number];
type TextPart = Extract<Part, { type: 'text' }>;
type ParsedText = Omit<TextPart, 'text'> & { text: Template };
type ParsedPart = Exclude<Part, TextPart> | ParsedText;
type ParsedMessage = { role: Message['role']; content: Template | ParsedPart[] };
type ParsedEntry = ParsedMessage | MessagePlaceholder;

/** The texts of a version. */
export interface Texts {
  template?: string | null | undefined;
  messages?: readonly PromptMessage[] | null | undefined;
}

/** Every text in which placeholders are filled, in order, with its path. */
export function* textsOf({ template, messages }: Texts): Generator<{ path: string; text: string }> {
  if (typeof template === 'string') yield { path: 'template', text: template };
  for (const [index, entry] of (messages ?? []).entries()) {
    if ('placeholder' in entry) continue;
    const path = `messages.${index}.content`;
    if (typeof entry.content === 'string') yield { path, text: entry.content };
    else
      for (const [at, part] of entry.content.entries())
        if (part.type === 'text') yield { path: `${path}.${at}.text`, text: part.text };
  }
}

/** The includes in the content itself, each once. */
export function includesOf(content: PromptContent): IncludeRef[] {
  return [...new Set([...textsOf(content)].flatMap(({ text }) => includesIn(text)))];
}

/** The included versions, for the record: each once, in order of name. */
export function includedVersions(includes: IncludeSet): { name: string; version: number }[] {
  const byKey = new Map(Object.values(includes).map(({ name, version }) => [`${name}@${version}`, { name, version }]));
  return [...byKey.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version - b.version));
}

/**
 * Parses a prompt's content.
 * @param includes everything that it includes, at any depth
 */
export function parsePrompt<Chat extends Message>(
  content: PromptContent,
  includes: IncludeSet,
  checks: ValueChecks<Chat>,
): Prompt<Chat> {
  const parseText = templateParser(includes);
  const template = content.template === null ? undefined : parseText(content.template);
  const entries = (content.messages ?? []).map((entry) => parseEntry(entry, parseText));
  const variables = variablesOf(content, template, entries);

  /** Its length if each variable has this length. */
  const charsWith = (value: string) =>
    countChars(
      template,
      entries,
      new Map(variables.map(({ name }) => [name, { file: { data: value } }])),
      new Filling(new Map(variables.map(({ name }) => [name, value]))),
    );
  const fixedChars = charsWith('');
  const placeholders = charsWith('x') - fixedChars;

  function read(given: Variables, limit: number): { values: Map<string, Value<Chat>>; details: ErrorDetail[] } {
    const values = new Map<string, Value<Chat>>();
    const details: ErrorDetail[] = [];
    for (const variable of variables) {
      if (details.length >= limit) break;
      const value = readValue(variable, given, limit - details.length, checks);
      if (Array.isArray(value)) details.push(...value);
      else values.set(variable.name, value);
    }
    return { values, details };
  }

  function build(values: Map<string, Value<Chat>>, appended: Chat[], render: (text: Template) => string): Filled<Chat> {
    const messages: Chat[] = [];
    const paths: string[] = [];
    const add = (message: Chat, path: string) => {
      messages.push(message);
      paths.push(path);
    };
    if (template !== undefined) add(asMessage({ role: 'user', content: render(template) }), 'template');
    for (const [index, entry] of entries.entries()) {
      if ('placeholder' in entry) {
        const { placeholder } = entry;
        for (const [at, message] of (values.get(placeholder)?.messages ?? []).entries())
          add(message, `variables.${placeholder}.${at}`);
        continue;
      }
      const message = fillMessage(entry, values, render);
      if (message !== undefined) add(message, `prompt.messages.${index}`);
    }
    for (const [at, message] of appended.entries()) add(message, `messages.${at}`);
    return { messages, paths };
  }

  return {
    names: variables.map(({ name }) => name),

    faults(given, limit = MAX_DETAILS) {
      const { values, details } = read(given, limit);
      if (details.length > 0 || template !== undefined) return details;
      return listFaults(build(values, [], () => '')).slice(0, limit);
    },

    maxChars(valueChars) {
      return Math.min(MAX_RENDERED_CHARS, fixedChars + placeholders * valueChars);
    },

    fill(given, appended = []) {
      const { values, details } = read(given, MAX_DETAILS);
      if (details.length > 0) throw new TemplateVariablesError(details);
      const filling = new Filling(
        new Map([...values].flatMap(([name, { text }]) => (text === undefined ? [] : [[name, text]]))),
      );
      if (countChars(template, entries, values, filling) + charsOf(appended) > MAX_RENDERED_CHARS)
        throw new TemplateVariablesError([
          { path: 'variables', message: `make the prompt longer than ${MAX_RENDERED_CHARS} characters` },
        ]);
      const render = (text: Template) => text.render(filling);
      if (template !== undefined && appended.length === 0) return render(template);
      const filled = build(values, appended, render);
      const faults = listFaults(filled);
      if (faults.length > 0) throw new TemplateVariablesError(faults);
      return filled.messages;
    },
  };
}

function parseEntry(entry: PromptMessage, parseText: (text: string) => Template): ParsedEntry {
  if ('placeholder' in entry) return entry;
  const { content } = entry;
  if (typeof content === 'string') return { ...entry, content: parseText(content) };
  return {
    ...entry,
    content: content.map((part) => (part.type === 'text' ? { ...part, text: parseText(part.text) } : part)),
  };
}

/** All variables, in order of appearance. */
function variablesOf(content: PromptContent, template: Template | undefined, entries: ParsedEntry[]): Variable[] {
  const inputs = content.inputs ?? {};
  const found = new Map<string, Variable>();
  const seen = new Set<Template>();

  function variable(name: string): Variable {
    const known = found.get(name);
    if (known !== undefined) return known;
    const input = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    const asMessages = input?.type === 'messages';
    const added = { name, inText: false, asMessages, asFile: input?.type === 'file', isOptional: false, input };
    found.set(name, added);
    return added;
  }

  function addTexts(text: Template): void {
    const names = new Set<string>();
    text.addNames(names, seen);
    for (const name of names) Object.assign(variable(name), { inText: true, isOptional: false });
  }

  if (template !== undefined) addTexts(template);
  for (const entry of entries) {
    if ('placeholder' in entry) {
      const isNew = !found.has(entry.placeholder);
      const own = variable(entry.placeholder);
      own.isOptional = entry.required === false && (isNew || own.isOptional);
      own.asMessages = true;
    } else if (entry.content instanceof Template) addTexts(entry.content);
    else
      for (const part of entry.content) {
        if (part.type === 'text') addTexts(part.text);
        else if (part.type === 'file' && part.variable !== undefined)
          Object.assign(variable(part.variable), { asFile: true, isOptional: false });
      }
  }
  for (const name of Object.keys(inputs)) variable(name);
  return [...found.values()];
}

/** A message with its texts and files; undefined if it contained only an optional file that was not passed. */
function fillMessage<Chat extends Message>(
  { content, ...message }: ParsedMessage,
  values: Map<string, Value<Chat>>,
  render: (text: Template) => string,
): Chat | undefined {
  if (content instanceof Template) return asMessage({ ...message, content: render(content) });
  const parts: unknown[] = [];
  for (const part of content) {
    if (part.type === 'text') parts.push({ ...part, text: render(part.text) });
    else if (part.type !== 'file' || part.variable === undefined) parts.push(part);
    else {
      const { variable, ...own } = part;
      const file = values.get(variable)?.file;
      if (file !== undefined) parts.push({ ...own, ...file });
    }
  }
  return parts.length === 0 ? undefined : asMessage({ ...message, content: parts });
}

/** The role and its parts belong together as in the prompt, where a schema has checked them. */
function asMessage<Chat extends Message>(message: { role: string; content: unknown }): Chat {
  return message as Chat;
}

function listFaults<Chat extends Message>({ messages, paths }: Filled<Chat>): ErrorDetail[] {
  if (messages.length > MAX_FILLED_MESSAGES)
    return [{ path: 'variables', message: `make the prompt longer than ${MAX_FILLED_MESSAGES} messages` }];
  if (messages.length === 0)
    return [{ path: 'variables', message: 'leave the prompt without messages: at least one is required' }];
  const fault = orderFault(messages, true);
  return fault === undefined ? [] : [{ path: paths[fault.index] ?? 'variables', message: fault.message }];
}

/** The number of characters of the filled prompt, calculated without filling it. */
function countChars<Chat extends Message>(
  template: Template | undefined,
  entries: ParsedEntry[],
  values: Map<string, Value<Chat>>,
  filling: Filling,
): number {
  const lengths = new Map<string, number>();
  const lengthOf = (name: string) => {
    const known = lengths.get(name);
    if (known !== undefined) return known;
    const { messages, file } = values.get(name) ?? {};
    const chars = messages !== undefined ? charsOf(messages) : (file?.data?.length ?? file?.url?.length ?? 0);
    lengths.set(name, chars);
    return chars;
  };
  let chars = template?.countChars(filling) ?? 0;
  for (const entry of entries) {
    if ('placeholder' in entry) chars += lengthOf(entry.placeholder);
    else if (entry.content instanceof Template) chars += entry.content.countChars(filling);
    else
      for (const part of entry.content) {
        if (part.type === 'text') chars += part.text.countChars(filling);
        else if (part.type === 'file' && part.variable !== undefined) chars += lengthOf(part.variable);
      }
  }
  return chars;
}

/** The number of characters of a filled prompt, with messages as JSON. */
export function charsOf(input: string | readonly Message[]): number {
  if (typeof input === 'string') return input.length;
  return input.length === 0 ? 0 : JSON.stringify(input).length;
}
