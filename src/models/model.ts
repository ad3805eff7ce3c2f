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
   * @throws ApiError `invalid_request` with the path `model`: unknown provider, or one without credentials.
   */
  resolve(name: string): ResolvedModel;
  /**
   * Calls the model once; retries are up to the caller.
   *
   * @throws ModelError for everything except the caller's own abort, which rejects with `signal.reason`.
   */
  generate(call: ModelCall): Promise<ModelResponse>;
  /**
   * Like `resolve`, for an embedding model.
   *
   * @throws ApiError also if its provider has none.
   */
  resolveEmbedding(name: string): ResolvedModel;
  /**
   * Embeds texts in one call and compares them; retries are up to the caller.
   *
   * @throws ModelError as `generate`.
   */
  similarities(call: SimilarityCall): Promise<SimilarityResponse>;
  /** The current price of a call with `atInputTokens` input tokens (default 0); null if unknown. */
  priceOf(model: string, atInputTokens?: number): Pricing | null;
  /** Bulk calls for less money and within hours. */
  batches: BatchedModels;
}

/** A provider and its models known by name; others can be called, too. */
export interface ListedProvider {
  provider: ProviderName;
  /** Whether its models can be called here. */
  isConfigured: boolean;
  /** The setting that enables it; null if none is needed. */
  setting: string | null;
  /** Whether its models can be called in batches here. */
  hasBatches: boolean;
  /** Sorted by name. */
  models: ListedModel[];
}

/** A model with its price for short inputs; null if unknown. */
export interface ListedModel {
  model: string;
  pricing: Pricing | null;
  /** Maximum tokens of input and output together, from the price list; null if unknown. */
  contextWindow: number | null;
}

/** The result of requesting a provider's list of models. */
export type ProviderTest =
  | { ms: number /** The number of models that it lists. Null if its response is not a list. */; models: number | null }
  | { ms: number; error: ModelError };

/** Lists the available providers and models. */
export interface ModelCatalogue {
  /** Every provider, including those without credentials. */
  providers(): ListedProvider[];
  /**
   * Tests whether a provider can be reached and accepts the key by requesting its list of models, which is free. Concurrent tests
   * share one result.
   * @returns undefined if there is no such provider
   */
  test(provider: string): Promise<ProviderTest | undefined>;
  /**
   * The parameters that a model would not receive as given, as far as is known here: nothing is sent.
   * @throws ApiError `invalid_request` if no provider is known for the name
   */
  parameterProblems(name: string, parameters: ModelParameters): Promise<ParameterProblem[]>;
}

/** `Models` that hold connections. */
export interface ClosableModels extends Models, ModelCatalogue {
  /** Closes the kept-alive connections once the calls in flight have ended. */
  close(): Promise<void>;
}

/** A provider's address and key. Base URLs end with the provider's API version (`…/v1`). */
export interface ProviderSettings {
  apiKey: string | undefined;
  /** Unset: the provider's own address. */
  baseUrl: string | undefined;
}

export interface ModelSettings {
  /** By provider name. */
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
