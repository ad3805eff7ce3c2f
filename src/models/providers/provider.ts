import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { RequestBody } from '../requests/json-body.ts';
import type { EmbeddingModel, LanguageModel, ProviderCall, SdkOptions } from '../requests/language-model.ts';
import type { SkippedKinds, Understood } from '../responses/understood.ts';
import type { Assembler } from '../streams/assembler.ts';

/** The call parameters that a provider may support. */
export type Parameter = Exclude<keyof ModelParameters, 'provider_options'>;

/** The paths of each parameter in a provider's request: the first one present counts. Empty if unsupported. */
export type Places = Readonly<Record<Parameter, readonly string[]>>;

/** The file types that a provider's chat messages accept. Whether a model understands them is up to the provider. */
export interface AcceptedFiles {
  /** Media types. */
  types: RegExp;
  /** The types in words, for messages. */
  said: string;
  /** Whether an assistant's message can hold files, too. */
  fromAssistant: boolean;
}

/** The number of each kind in a request. */
export interface Counts {
  system: number;
  files: number;
  toolCalls: number;
  toolResults: number;
}

/** Reads from a request what the model receives, to detect losses. */
export interface RequestReader {
  counts(body: RequestBody): Counts;
  toolNames(body: RequestBody): unknown[];
  /** Undefined if the request has none that is known. */
  toolChoice(body: RequestBody): ToolChoice | undefined;
  /** The tool through which the SDK gets a JSON response from models without a JSON format. */
  jsonTool?: string;
}

/** The environment variables for a provider's key and base URL, and the one that its models require. */
export interface ProviderVariables {
  apiKey: string;
  baseUrl: string;
  needed: 'apiKey' | 'baseUrl';
}

/** Where and how to call a model. */
export interface Connection {
  /** Undefined only if the provider needs none. */
  apiKey: string | undefined;
  baseUrl: string;
  fetch: typeof globalThis.fetch;
}

/**
 * A provider called over HTTP: everything specific to it, except the options that callers can pass through under its own names
 * (`domain/prompts/provider-options.ts`).
 */
export interface Provider<Name extends string = string> {
  /** The part before the slash in its model names. */
  name: Name;
  settings: ProviderVariables;
  /** Its default address, which ends with the provider's API version (`…/v1`). Undefined if it has none. */
  baseUrl: string | undefined;
  /** Its name in the price list. Undefined if its models can be anything and have no list price. */
  priceList: string | undefined;
  /** Models that can be named without the provider. Undefined if none. */
  bareNames: RegExp | undefined;
  /** Which models of the price list are offered in addition to bare names; default all. */
  offered?: RegExp;
  files: AcceptedFiles;
  /** Whether the input of a tool call can be something other than an object. */
  takesAnyToolInput: boolean;
  /**
   * What its messages support: later system messages, names of speakers, reasoning of earlier responses; and the maximum number of
   * cache marks (`cache_control`) in a request.
   */
  takes: { laterSystem: boolean; names: boolean; reasoning: boolean; cacheMarks: number };
  places: Places;

  /** The headers with the key, for requests without an SDK. */
  authorization(apiKey: string): Record<string, string>;
  /** A model for one call. Imports the SDK lazily because most processes call one provider or none. */
  languageModel(id: string, connection: Connection): Promise<LanguageModel>;
  /** An embedding model for one call. Undefined if it has none. */
  embeddingModel?(id: string, connection: Connection): Promise<EmbeddingModel>;
  /** Adjusts the SDK's options. */
  sdkOptions?(options: SdkOptions, call: ProviderCall): SdkOptions;
  /** Completes the SDK's body with what the SDK cannot express. */
  complete?(body: RequestBody, call: ProviderCall): RequestBody;
  reader: RequestReader;

  /** The request for a streamed response. */
  asStreamed(url: string, body: RequestBody): { url: string; body: RequestBody };
  /** Assembles a streamed response. */
  createAssembler(skipped: SkippedKinds): Assembler;
  /** The parsed part of a response's body, whatever format the server uses. */
  understand(body: RequestBody, skipped: SkippedKinds): Understood;
}

/** The header with which most providers accept a key. */
export const bearer = (apiKey: string): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });
