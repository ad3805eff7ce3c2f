import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { Pricing } from '../domain/usage.ts';
import type { BatchedModels } from './batches/batched-models.ts';
import type { ModelCall, ModelResponse, SimilarityCall, SimilarityResponse } from './model-call.ts';
import type { ModelError } from './model-error.ts';
import type { ProviderName, ResolvedModel } from './names.ts';
import type { ParameterProblem } from './requests/request-body.ts';

/** The models this installation can call. */
export interface Models {
  /**
   * Parses a model's name and checks that this installation can call it.
   *
   * @throws ApiError `invalid_request` with the path `model`: no known provider, or one without credentials.
   */
  resolve(name: string): ResolvedModel;
  /**
   * Calls the model once; the caller retries.
   *
   * @throws ModelError for everything but the caller's own abort, which rejects with `signal.reason`.
   */
  generate(call: ModelCall): Promise<ModelResponse>;
  /**
   * As `resolve`, of a model that gives embeddings.
   *
   * @throws ApiError as well where its provider has none.
   */
  resolveEmbedding(name: string): ResolvedModel;
  /**
   * Has texts embedded, in one call, and compares them; the caller retries.
   *
   * @throws ModelError as `generate`.
   */
  similarities(call: SimilarityCall): Promise<SimilarityResponse>;
  /** The price now of a call with `atInputTokens` input tokens (default 0); null when none is known. */
  priceOf(model: string, atInputTokens?: number): Pricing | null;
  /** Calls by the hundred, for less money and within hours. */
  batches: BatchedModels;
}

/** A provider, and the models of it that are known by name: others can be called, too. */
export interface ListedProvider {
  provider: ProviderName;
  /** Whether its models can be called here. */
  isConfigured: boolean;
  /** The setting that makes it so; null where none is needed. */
  setting: string | null;
  /** Whether its models can be called by batches here. */
  hasBatches: boolean;
  /** In the order of their names. */
  models: ListedModel[];
}

/** A model with its price for short inputs; null where none is known. */
export interface ListedModel {
  model: string;
  pricing: Pricing | null;
  /** The most tokens of input and output together, by the price list; null where that is not known. */
  contextWindow: number | null;
}

/** What came of asking a provider for its models. */
export type ProviderTest =
  | { ms: number /** How many it lists. Null: what it responded is no list. */; models: number | null }
  | { ms: number; error: ModelError };

/** Tells what can be chosen from. */
export interface ModelCatalogue {
  /** Every provider, those without credentials too. */
  providers(): ListedProvider[];
  /**
   * Asks a provider for the list of its models, which costs nothing: whether it is reached, and takes the key. Once at a time: whoever
   * asks meanwhile gets the same result.
   * @returns undefined where there is no such provider
   */
  test(provider: string): Promise<ProviderTest | undefined>;
  /**
   * The parameters that a call of a model would not take to it as given, by what is known of the model here: nothing is sent.
   * @throws ApiError `invalid_request` if no provider is known for the name
   */
  parameterProblems(name: string, parameters: ModelParameters): Promise<ParameterProblem[]>;
}

/** `Models` that hold connections. */
export interface ClosableModels extends Models, ModelCatalogue {
  /** Closes the kept-alive connections once the calls in flight have ended. */
  close(): Promise<void>;
}

/** Where a provider is, and its key. Base URLs end where the provider's own API version does (`…/v1`). */
export interface ProviderSettings {
  apiKey: string | undefined;
  /** Unset: the provider's own address. */
  baseUrl: string | undefined;
}

export interface ModelSettings {
  /** By the provider's name. */
  providers: Readonly<Record<string, ProviderSettings>>;
  /** The operator's own prices, JSON; see `price-book.ts`. */
  pricesFile?: string | undefined;
  /** Whether the server at the `openai-compatible` base URL has OpenAI's batch API; default false. */
  openAiCompatibleBatches?: boolean | undefined;
}

export type {
  CallOrigin,
  FinishReason,
  ModelCall,
  ModelDelta,
  ModelResponse,
  SimilarityCall,
  SimilarityResponse,
} from './model-call.ts';
export { ModelError, type ModelErrorCode } from './model-error.ts';
export type { ProviderName, ResolvedModel } from './names.ts';
