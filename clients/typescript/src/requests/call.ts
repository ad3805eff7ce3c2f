import { PmsError } from '../errors.ts';
import type { CacheControl, ChatMessage, FilePart, ModelParameters, Tool, ToolChoice } from '../generated/types.gen.ts';
import type { LoadedPrompt, ModelInput, Variables } from '../prompts/loaded-prompt.ts';

/** Additions to a prompt and its variables in a request. */
export interface CallOptions {
  /** Appended to the prompt's own messages. */
  messages?: ChatMessage[];
  /**
   * Replaces the prompt's model, in the notation of the client that sends the request. Required for a fallback, which has none.
   */
  model?: string;
  /** Override those of the prompt by name. */
  parameters?: ModelParameters;
}

/**
 * The prompt can't be sent because the provider does not support part of it. The service rejects the same calls. `details`
 * names the field, relative to the prompt: `parameters.seed`, `messages.2.content.0`.
 */
export class UnsupportedError extends PmsError {
  constructor(path: string, message: string) {
    super('unsupported', `${path}: ${message}`, { details: [{ path, message }] });
  }
}

/** A filled prompt with everything sent to a model. */
export interface Call {
  /** Undefined if the caller has named an unknown model. */
  provider: string | undefined;
  /** The provider's name for it. */
  model: string;
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice: ToolChoice | undefined;
  parameters: ModelParameters;
  about: About;
}

/** The information about a request that `record` needs. */
export interface About {
  prompt: LoadedPrompt;
  variables: Variables;
  input: ModelInput;
  /** `provider/model` */
  model: string;
  startedAt: Date;
  /** The tool through which a JSON response is requested. */
  jsonTool?: string;
}

const BARE_NAMES: readonly (readonly [provider: string, names: RegExp])[] = [
  ['openai', /^(gpt-|chatgpt-|o[134](-|$)|ft:(gpt|o[134]))/],
  ['anthropic', /^claude-/],
  ['google', /^gemini-/],
  ['mistral', /^(mistral|ministral|magistral|devstral|pixtral|codestral|open-mi[sx]tral)-/],
];
const PROVIDERS = ['openai', 'anthropic', 'google', 'mistral', 'openai-compatible', 'sandbox'];

/** @returns the provider of a model, if the service knows it, and its name there */
function resolve(name: string): { provider: string | undefined; model: string } {
  const slash = name.indexOf('/');
  const prefix = name.slice(0, Math.max(0, slash));
  if (PROVIDERS.includes(prefix)) return { provider: prefix, model: name.slice(slash + 1) };
  return { provider: BARE_NAMES.find(([, names]) => names.test(name))?.[0], model: name };
}

/** The model of a request. @throws UnsupportedError if there is none */
export function modelOf(prompt: LoadedPrompt, { model }: CallOptions): ReturnType<typeof resolve> & { name: string } {
  const name = model ?? prompt.model;
  if (name === undefined)
    throw new UnsupportedError('model', 'is unknown, because the prompt is a fallback: pass one in the options');
  return { name, ...resolve(name) };
}

/**
 * @param speaks providers that the client supports; the first of them is assumed for an unknown model
 * @throws VariablesError, UnsupportedError
 */
export function toCall(
  prompt: LoadedPrompt,
  variables: Variables,
  options: CallOptions,
  speaks: readonly string[],
): Call {
  const { messages = [], model: given, parameters } = options;
  const { name, provider, model } = modelOf(prompt, options);
  if (provider !== undefined && !speaks.includes(provider) && given === undefined)
    throw new UnsupportedError(
      'model',
      `${name} is not a model of ${speaks.join(' or ')}: pass the client's own name of a model in the options`,
    );
  const isKnown = provider !== undefined && speaks.includes(provider);
  const input = prompt.compile(variables, messages);
  const tools = prompt.data?.tools ?? [];
  const toolChoice = prompt.data?.tool_choice ?? undefined;
  if (tools.length === 0 && toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none')
    throw new UnsupportedError('tool_choice', 'requires a tool, but there are no tools');
  return {
    provider: isKnown ? provider : undefined,
    // A gateway's own model names also contain slashes.
    model: isKnown ? model : name,
    messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input,
    tools,
    toolChoice,
    parameters: { ...prompt.data?.parameters, ...parameters },
    about: {
      prompt,
      variables,
      input,
      model:
        provider === undefined && !name.includes('/')
          ? `${speaks[0]}/${name}`
          : `${provider === undefined ? '' : `${provider}/`}${model}`,
      startedAt: new Date(),
    },
  };
}

const ABOUT = new WeakMap<object, About>();

/** Remembers what `record` needs to know about a request. */
export function remember<Request extends object>(request: Request, about: About): Request {
  ABOUT.set(request, about);
  return request;
}

/** @throws PmsError if the request is a copy, or not from this package */
export function recall(request: object): About {
  const about = ABOUT.get(request);
  if (about === undefined)
    throw new PmsError(
      'unknown_request',
      'The request must be the object that toOpenAI, toAnthropic … gave, not a copy of it.',
    );
  return about;
}

/** Whether the model must call at most one tool per response. Every provider allows several by default. */
export const isOneToolAtATime = ({ tools, toolChoice, parameters }: Call): boolean =>
  parameters.parallel_tool_calls === false && tools.length > 0 && toolChoice !== 'none';

/** @throws UnsupportedError for the first of these parameters that is set */
export function refuse(parameters: ModelParameters, names: readonly (keyof ModelParameters)[], message: string): void {
  for (const name of names)
    if (parameters[name] !== undefined) throw new UnsupportedError(`parameters.${name}`, message);
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges objects recursively; any other value replaces the old one. */
export function merge<Base extends object>(base: Base, over: object): Base {
  const merged = { ...base } as Fields;
  for (const [key, value] of Object.entries(over)) {
    const there = merged[key];
    merged[key] = isObject(there) && isObject(value) ? merge(there, value) : value;
  }
  return merged as unknown as Base;
}

/** Applies the options in the provider's own names over everything else. */
export const withProviderOptions = <Request extends object>(
  request: Request,
  provider: string,
  { parameters }: Call,
): Request => merge(request, parameters.provider_options?.[provider] ?? {});

export const partsOf = <Part>(
  content: string | Part[],
): (Part | { type: 'text'; text: string; cache_control?: CacheControl })[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

export const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');

/** A string unchanged, anything else as JSON. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function stopsOf({ stop }: ModelParameters): string[] | undefined {
  return typeof stop === 'string' ? [stop] : stop;
}

/** A text file's text. */
export function decoded(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

const SIGNATURES: readonly (readonly [start: string, mediaType: string])[] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** The media type of a file, detected from its bytes if declared as `image/*`. @throws UnsupportedError */
export function typeOf({ media_type, data = '' }: FilePart, path: string): string {
  if (!media_type.endsWith('/*')) return media_type;
  const found = media_type === 'image/*' ? SIGNATURES.find(([start]) => data.startsWith(start)) : undefined;
  if (found === undefined) throw new UnsupportedError(`${path}.media_type`, `must be more specific than ${media_type}`);
  return found[1];
}

/** Only the fields that are set. */
export function given<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof given<Values>
  >;
}
