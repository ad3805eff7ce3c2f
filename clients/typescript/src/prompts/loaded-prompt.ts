import {
  type Prompt as FillablePrompt,
  parsePrompt,
  TemplateVariablesError,
} from '../../../../src/domain/prompt-rules/prompt.ts';
import type { Variables } from '../../../../src/domain/prompt-rules/prompt-values.ts';
import type { Input } from '../../../../src/domain/prompt-rules/types.ts';
import { VariablesError } from '../errors.ts';
import type { ChatMessage, Prompt, ResolvedPrompt } from '../generated/types.gen.ts';
import type { DecidedBy } from './rollout.ts';
import { VALUE_CHECKS } from './value-checks.ts';

export type { ChatMessage, Variables };

/** A filled prompt: a template's text, sent as one user message, or a list of messages. */
export type ModelInput = string | ChatMessage[];

/** All includes of a content at any depth: each reference, resolved once. */
type IncludeSet = NonNullable<ResolvedPrompt['includes']>;

/** The source of a call's text: exactly one of `template` and `messages` is not null. */
type PromptContent = Pick<Prompt, 'template' | 'messages'> & { inputs: Record<string, Input> | null };

type ParsedPrompt = FillablePrompt<ChatMessage>;

/** A version of a prompt with all its includes. It is immutable and can be shared. */
export class LoadedPrompt {
  readonly name: string;
  /** 0 for a fallback. */
  readonly version: number;
  /** The complete record of the version. Undefined for a fallback. */
  readonly data: Prompt | undefined;
  /** The included texts, by reference. */
  readonly includes: IncludeSet;
  readonly content: PromptContent;
  /** Its model. Undefined for a fallback. */
  readonly model: string | undefined;
  /** Whether it is the fallback passed to `get`. */
  readonly isFallback: boolean;
  /** The release of its label that selected this version: record it with the run. Undefined if there was none. */
  readonly release: DecidedBy | undefined;
  /** Shared by all copies. */
  readonly #parsed: { prompt?: ParsedPrompt };

  private constructor(
    name: string,
    content: PromptContent,
    includes: IncludeSet,
    data: Prompt | undefined,
    { release, parsed = {} }: { release?: DecidedBy | undefined; parsed?: { prompt?: ParsedPrompt } } = {},
  ) {
    this.name = name;
    this.version = data?.version ?? 0;
    this.data = data;
    this.includes = includes;
    this.content = content;
    this.model = data?.model;
    this.isFallback = data === undefined;
    this.release = release;
    this.#parsed = parsed;
  }

  static of(data: Prompt, includes: IncludeSet): LoadedPrompt {
    // A default is JSON, which the document types as unknown.
    return new LoadedPrompt(data.name, data as PromptContent, includes, data);
  }

  /** The same version, selected by a release. */
  decidedBy(release: DecidedBy): LoadedPrompt {
    return new LoadedPrompt(this.name, this.content, this.includes, this.data, { release, parsed: this.#parsed });
  }

  static fallback(name: string, content: Fallback): LoadedPrompt {
    const { template = null, messages = null } = typeof content === 'string' ? { template: content } : content;
    return new LoadedPrompt(name, { template, messages, inputs: null }, {}, undefined);
  }

  /** Names of all variables, in order of appearance. */
  get variables(): readonly string[] {
    return this.#parse().names;
  }

  /**
   * Fills the prompt locally, with the service's own rules.
   * @param messages appended to the prompt's own
   * @returns the text of a template; a list of messages if the prompt has some, or some are appended
   * @throws VariablesError naming the variables that are missing or invalid
   */
  compile(variables: Variables = {}, messages: ChatMessage[] = []): ModelInput {
    try {
      return this.#parse().fill(variables, messages);
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      throw new VariablesError('invalid_variables', error.message, { details: error.details });
    }
  }

  #parse(): ParsedPrompt {
    this.#parsed.prompt ??= parsePrompt(this.content, this.includes, VALUE_CHECKS);
    return this.#parsed.prompt;
  }
}

/** Replaces an unavailable prompt: a template, or the content of a prompt. */
export type Fallback =
  | string
  | { template: string; messages?: undefined }
  | { messages: NonNullable<Prompt['messages']>; template?: undefined };
