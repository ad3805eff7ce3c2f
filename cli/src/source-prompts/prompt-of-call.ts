import { readTools } from '../importers/chat.ts';
import { takeParameters } from '../importers/parameters.ts';
import { formatTemplate, type Piece, TemplateError, translate } from '../importers/template-text.ts';
import type { Json } from '../json.ts';
import { NameClashError, VariableNames } from '../names.ts';
import { type PromptMessage, type PromptVersion, versionProblem } from '../prompt-version.ts';
import { type Call, type Hole, jsonOf, literalText, type Value } from './value.ts';

/** A prompt in source code. */
export interface FoundPrompt {
  version: PromptVersion;
  /** Variables whose expressions have another name: expression, variable. */
  variables: Map<string, string>;
  /** Parts of the call that prompts do not support. */
  leftOut: string[];
  /** Additions of the prompt that are not in the call. */
  notes: string[];
}

/** Why no prompt can be extracted from a call. */
export class NoPromptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoPromptError';
  }
}

/** How a call specifies what is sent to a model. */
interface Shape {
  /** The last names of the callee; the final one can be one of several. */
  callee: string[][];
  /** Prepended to model names without a provider. */
  provider?: string;
  /** Whether its texts already are LangChain templates, with `{name}`. */
  isTemplate?: boolean;
  /** Whether the first positional argument is the content to send. */
  isPositional?: boolean;
}

const SHAPES: readonly Shape[] = [
  { callee: [['completions'], ['create', 'parse', 'stream']], provider: 'openai' },
  { callee: [['responses'], ['create', 'parse', 'stream']], provider: 'openai' },
  { callee: [['messages'], ['create', 'stream']], provider: 'anthropic' },
  { callee: [['generateText', 'streamText', 'generateObject', 'streamObject']] },
  { callee: [['completion', 'acompletion']] },
  { callee: [['ChatPromptTemplate'], ['fromMessages', 'from_messages']], isTemplate: true, isPositional: true },
  {
    callee: [
      ['ChatPromptTemplate', 'PromptTemplate'],
      ['fromTemplate', 'from_template'],
    ],
    isTemplate: true,
    isPositional: true,
  },
  { callee: [['invoke', 'ainvoke', 'stream', 'astream']], isPositional: true },
];

const matches = ({ callee: names }: Shape, { callee }: Call) =>
  callee.length >= names.length &&
  names.every((any, index) => any.includes(callee[callee.length - names.length + index] ?? ''));

/** The meaning of fields: system texts, lists of messages, user texts. */
const SYSTEM = ['system', 'instructions'];
const MESSAGES = ['messages', 'input'];
const USER = ['prompt', 'input'];
/** Fields that do not affect what is sent to the model. */
const IGNORED = new Set([...SYSTEM, ...MESSAGES, ...USER, 'model', 'tools', 'stream', 'stream_options', 'text_format']);

const ROLES: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
};
/** LangChain's message and message template classes. */
const CLASSES: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  SystemMessage: 'system',
  SystemMessagePromptTemplate: 'system',
  HumanMessage: 'user',
  HumanMessagePromptTemplate: 'user',
  AIMessage: 'assistant',
  AIMessagePromptTemplate: 'assistant',
};

const PATH = /^(?:this\.|self\.)?([A-Za-z_$][\w$]*(?:(?:\??\.|\[["'])[A-Za-z_$][\w$]*(?:["']\])?)*)$/;
const WRAPPED = /^(?:str|String|JSON\.stringify|json\.dumps)\(\s*([A-Za-z_$][\w$.]*)\s*\)$/;
const MAX_NAME_CHARS = 60;

/** Reads what one call sends. */
class CallReader {
  readonly variables = new Map<string, string>();
  readonly leftOut: string[] = [];
  readonly #names = new VariableNames();
  readonly #isTemplate: boolean;
  /** Whether there is any literal text around inserted values. */
  hasText = false;

  constructor(isTemplate: boolean) {
    this.#isTemplate = isTemplate;
  }

  #variable({ source }: Hole): string {
    const inner = WRAPPED.exec(source)?.[1] ?? source;
    const path = PATH.exec(inner)?.[1]
      ?.replace(/\??\.|\[["']|["']\]/g, '_')
      .replace(/_+$/, '');
    const name = this.#names.of(path ?? inner.replace(/\s+/g, ' ').slice(0, MAX_NAME_CHARS));
    if (name !== source) this.variables.set(source, name);
    return name;
  }

  #template(pieces: readonly (string | Hole)[]): string {
    if (pieces.some((piece) => typeof piece === 'string' && /\p{L}/u.test(piece))) this.hasText = true;
    if (!this.#isTemplate)
      return formatTemplate(
        pieces.map((piece): Piece => (typeof piece === 'string' ? piece : { variable: this.#variable(piece) })),
      );
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : `{${this.#variable(piece)}}`)).join('');
    const { text: translated, renamed } = translate(text, 'f-string', this.#names);
    for (const [from, to] of renamed) this.variables.set(from, to);
    return translated;
  }

  /** @throws NoPromptError if it is not a text */
  text(value: Value): string {
    if (value.kind === 'text') return this.#template(value.pieces);
    if (value.kind === 'unknown' || value.kind === 'call') return this.#template([{ source: value.source }]);
    if (value.kind !== 'list') throw new NoPromptError('a message is not a text');
    // Parts that are finally joined to one text.
    const parts = value.items.map((part) => {
      const type = part.kind === 'object' ? literalText(part.fields.get('type')) : undefined;
      const text = part.kind === 'object' ? part.fields.get('text') : undefined;
      if (text === undefined || !/^(input_|output_)?text$/.test(type ?? 'text'))
        throw new NoPromptError(`a message has a part that is not a text${type === undefined ? '' : ` (${type})`}`);
      return this.text(text);
    });
    return parts.join('\n\n');
  }

  #placeholder(value: Value): PromptMessage {
    const source = value.kind === 'unknown' || value.kind === 'call' ? value.source : '';
    if (source === '') throw new NoPromptError('a message is neither an object nor a name');
    return { placeholder: this.#variable({ source }), required: false };
  }

  /** A LangChain message: an object of a class, or a list of a role and a text. @returns undefined if it is not one */
  #ofLangChain(value: Value): PromptMessage | undefined {
    if (value.kind === 'list') {
      const [said, content] = value.items;
      const role = literalText(said)?.toLowerCase() ?? '';
      if (role === 'placeholder' && content !== undefined) return this.#placeholderNamed(literalText(content));
      return Object.hasOwn(ROLES, role) && content !== undefined
        ? { role: ROLES[role] ?? 'user', content: this.text(content) }
        : undefined;
    }
    if (value.kind !== 'call') return undefined;
    const { callee, args, named } = value.call;
    const name = callee.find((each) => Object.hasOwn(CLASSES, each) || each === 'MessagesPlaceholder') ?? '';
    const content = named.get('content') ?? named.get('template') ?? args[0];
    if (name === 'MessagesPlaceholder')
      return this.#placeholderNamed(literalText(named.get('variable_name') ?? named.get('variableName') ?? args[0]));
    return Object.hasOwn(CLASSES, name) && content !== undefined
      ? { role: CLASSES[name] ?? 'user', content: this.text(content) }
      : undefined;
  }

  #placeholderNamed(name: string | undefined): PromptMessage {
    if (name === undefined) throw new NoPromptError('the name of a placeholder is not a literal');
    return { placeholder: this.#names.of(name.replace(/^\{|\}$/g, '')), required: false };
  }

  message(value: Value): PromptMessage {
    const own = this.#ofLangChain(value);
    if (own !== undefined) return own;
    if (value.kind !== 'object') return this.#placeholder(value);
    const said = literalText(value.fields.get('role')) ?? '';
    const content = value.fields.get('content');
    if (!Object.hasOwn(ROLES, said) || content === undefined)
      throw new NoPromptError(said === '' ? 'the role of a message is not a literal' : `a message is of "${said}"`);
    return { role: ROLES[said] ?? 'user', content: this.text(content) };
  }

  /** Whether a value is a message, so that a list of such values is sent to a model. */
  isMessage(value: Value): boolean {
    if (value.kind === 'object') return value.fields.has('role') && value.fields.has('content');
    if (value.kind === 'list') return Object.hasOwn(ROLES, literalText(value.items[0])?.toLowerCase() ?? '');
    return value.kind === 'call' && value.call.callee.some((name) => Object.hasOwn(CLASSES, name));
  }
}

/** The model that a call names, in the service's notation. @returns undefined if it is not a literal */
function modelOf(value: Value | undefined, provider: string | undefined): string | undefined {
  const name = literalText(value);
  if (name !== undefined) return provider === undefined || name.includes('/') ? name : `${provider}/${name}`;
  if (value?.kind !== 'call') return undefined;
  // `openai('gpt-5')` and `openai.responses('gpt-5')` of the AI SDK.
  const { callee, args } = value.call;
  const model = literalText(args[0]);
  return model === undefined || callee[0] === undefined ? undefined : `${callee[0]}/${model}`;
}

function messagesOf(call: Call, { isPositional }: Shape, reader: CallReader): PromptMessage[] {
  const { named, args } = call;
  const first = (names: string[], kinds: Value['kind'][]) =>
    names.map((name) => named.get(name)).find((value) => value !== undefined && kinds.includes(value.kind));
  const positional = isPositional ? args[0] : undefined;
  const list = positional ?? first(MESSAGES, ['list']);
  const messages: PromptMessage[] = [];
  const system = first(SYSTEM, ['text', 'list']);
  if (system !== undefined) messages.push({ role: 'system', content: reader.text(system) });
  if (list?.kind === 'list') messages.push(...list.items.map((item) => reader.message(item)));
  else if (positional?.kind === 'text') messages.push({ role: 'user', content: reader.text(positional) });
  else {
    const user = first(USER, ['text', 'unknown', 'call']);
    const history = named.get('messages');
    if (user !== undefined) messages.push({ role: 'user', content: reader.text(user) });
    else if (history !== undefined) messages.push(reader.message(history));
  }
  return messages;
}

/**
 * The prompt that a call sends to a model.
 * @param fallbackModel for calls that name none
 * @returns undefined if it is not a model call
 * @throws NoPromptError if it is, but its content is not literal
 */
export function promptOfCall(call: Call, fallbackModel: string | undefined): FoundPrompt | undefined {
  const shape = SHAPES.find((each) => matches(each, call));
  if (shape === undefined) return undefined;
  const reader = new CallReader(shape.isTemplate === true);
  const isGeneral = shape.callee.length === 1 && (shape.isPositional || shape.callee[0]?.includes('completion'));
  // `invoke` and `completion` are common names: those of models take a list of messages.
  const list = shape.isPositional ? call.args[0] : call.named.get('messages');
  if (isGeneral && (list?.kind !== 'list' || !list.items.some((item) => reader.isMessage(item)))) return undefined;
  try {
    const messages = messagesOf(call, shape, reader);
    if (messages.length === 0 && call.named.size === 0) return undefined;
    if (!reader.hasText) throw new NoPromptError('its texts are not literals');
    const own = modelOf(call.named.get('model'), shape.provider);
    const model = own ?? fallbackModel;
    if (model === undefined) throw new NoPromptError('it names no model here: set one with --model');
    const version = { model, fallback_models: [], ...contentOf(messages), ...settingsOf(call, shape, reader) };
    const problem = versionProblem(version);
    if (problem !== undefined) throw new NoPromptError(problem);
    const provider = shape.provider === undefined ? '' : ` to ${shape.provider}`;
    const notes = own === undefined ? [`the call${provider} names no model here: ${model} is that of --model`] : [];
    return { version, variables: reader.variables, leftOut: reader.leftOut, notes };
  } catch (error) {
    if (error instanceof TemplateError || error instanceof NameClashError) throw new NoPromptError(error.message);
    throw error;
  }
}

/** A single user text becomes a template. */
function contentOf(messages: PromptMessage[]): Pick<PromptVersion, 'messages' | 'template'> {
  const [only, ...others] = messages;
  const isTemplate = only !== undefined && others.length === 0 && 'role' in only && only.role === 'user';
  return isTemplate && typeof only.content === 'string' ? { template: only.content } : { messages };
}

/** The parameters and tools of a call. Unsupported settings are reported. */
function settingsOf(
  { named }: Call,
  { isPositional }: Shape,
  { leftOut }: CallReader,
): Pick<PromptVersion, 'parameters' | 'tools'> {
  const settings: Json = {};
  if (!isPositional)
    for (const [name, value] of named) {
      if (IGNORED.has(name)) continue;
      const json = jsonOf(value);
      if (json === undefined) leftOut.push(name);
      else settings[name] = json;
    }
  const { parameters, others } = takeParameters(settings);
  leftOut.push(...Object.keys(others));
  const given = isPositional ? undefined : named.get('tools');
  const json = given === undefined ? undefined : jsonOf(given);
  try {
    if (Array.isArray(json)) return { parameters, tools: readTools(json) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
  if (given !== undefined) leftOut.push('tools');
  return { parameters };
}
