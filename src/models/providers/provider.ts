import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { RequestBody } from '../requests/json-body.ts';
import type { EmbeddingModel, LanguageModel, ProviderCall, SdkOptions } from '../requests/language-model.ts';
import type { SkippedKinds, Understood } from '../responses/understood.ts';
import type { Assembler } from '../streams/assembler.ts';

/** The parameters of a call that a provider may have a place for. */
export type Parameter = Exclude<keyof ModelParameters, 'provider_options'>;

/** Where each parameter is in a provider's request: the first place that is filled. Empty: the provider has no such parameter. */
export type Places = Readonly<Record<Parameter, readonly string[]>>;

/** The files that a provider's chat messages have a place for. Which of them a model understands, the provider says. */
export interface AcceptedFiles {
  /** Media types. */
  types: RegExp;
  /** The types in words. */
  said: string;
  /** Whether an assistant's message may hold files, too. */
  fromAssistant: boolean;
}

/** How many of each kind a request holds. */
export interface Counts {
  system: number;
  files: number;
  toolCalls: number;
  toolResults: number;
}

/** Reads from a request what it gives to the model, so that nothing is lost on the way. */
export interface RequestReader {
  counts(body: RequestBody): Counts;
  toolNames(body: RequestBody): unknown[];
  /** Undefined where the request has none that we know. */
  toolChoice(body: RequestBody): ToolChoice | undefined;
  /** The tool by which the SDK gets a JSON response from models that have no format for it. */
  jsonTool?: string;
}

/** The environment variables that hold a provider's key and base URL, and the one without which its models can't be called. */
export interface ProviderVariables {
  apiKey: string;
  baseUrl: string;
  needed: 'apiKey' | 'baseUrl';
}

/** Where a model is called, and how. */
export interface Connection {
  /** Undefined only where the provider needs none. */
  apiKey: string | undefined;
  baseUrl: string;
  fetch: typeof globalThis.fetch;
}

/**
 * A provider that is called over HTTP: all that is particular to it, but for the options that callers may pass on in its own
 * names (`domain/prompts/provider-options.ts`).
 */
export interface Provider<Name extends string = string> {
  /** What stands before the slash in the names of its models. */
  name: Name;
  settings: ProviderVariables;
  /** Its own address; a base URL ends where the provider's API version does (`…/v1`). Undefined: it has none. */
  baseUrl: string | undefined;
  /** What the price list calls it. Undefined: its models may be anything, whatever they are called, and have no list price. */
  priceList: string | undefined;
  /** Models that can be named without the provider. Undefined: none. */
  bareNames: RegExp | undefined;
  /** Which models of the price list are offered besides being bare names; default all of them. */
  offered?: RegExp;
  files: AcceptedFiles;
  /** Whether the input of a tool call may be something else than an object. */
  takesAnyToolInput: boolean;
  /**
   * What its messages have a place for: system messages behind others, names of speakers, reasoning of earlier responses; and how many
   * marks of its cache (`cache_control`) a request can have.
   */
  takes: { laterSystem: boolean; names: boolean; reasoning: boolean; cacheMarks: number };
  places: Places;

  /** The headers that hold the key, where no SDK makes the request. */
  authorization(apiKey: string): Record<string, string>;
  /** A model for one call. The SDK is imported here: most processes call one provider or none. */
  languageModel(id: string, connection: Connection): Promise<LanguageModel>;
  /** A model for one call for embeddings. Undefined: it has none. */
  embeddingModel?(id: string, connection: Connection): Promise<EmbeddingModel>;
  /** Changes what its SDK is given. */
  sdkOptions?(options: SdkOptions, call: ProviderCall): SdkOptions;
  /** The body that the SDK has made, with what the SDK can't express. */
  complete?(body: RequestBody, call: ProviderCall): RequestBody;
  reader: RequestReader;

  /** The request that asks for the response in pieces. */
  asStreamed(url: string, body: RequestBody): { url: string; body: RequestBody };
  /** Puts a streamed response together. */
  createAssembler(skipped: SkippedKinds): Assembler;
  /** What is read of a response's body, whatever form the server has given it. */
  understand(body: RequestBody, skipped: SkippedKinds): Understood;
}

/** What most providers take a key by. */
export const bearer = (apiKey: string): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });
