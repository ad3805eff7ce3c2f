import type { ModelInput, ToolCall } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../domain/prompts/prompt-content.ts';
import type { Cost, Pricing, TokenUsage } from '../domain/usage.ts';
import type { BatchedModels } from './batches/batched-models.ts';
import type { ProviderName, ResolvedModel } from './names.ts';

/** One call to a model. */
export interface ModelCall {
  /** Public id of the workspace that it is made for: files that are fetched for it count against its share of the memory. */
  workspace: string;
  /** `provider/model`, or a bare name that resolves. */
  model: string;
  /** The filled prompt. A string is sent as one user message. */
  input: ModelInput;
  /** Tools that the model may ask for; default none. */
  tools?: Tool[] | null;
  /** Default: the model decides. */
  toolChoice?: ToolChoice | null;
  parameters: ModelParameters;
  /** Where given, the response is streamed: called with each piece as it arrives; it must not throw. The response is the same as without. */
  onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** Cancels the call, which then rejects with the signal's reason. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** A piece of a response: text to append to the text so far, or a whole tool call. */
export type ModelDelta = { type: 'text'; text: string } | { type: 'tool_call'; toolCall: ToolCall };

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** What a model sent back. */
export interface ModelResponse {
  output: string;
  /** The tools that the model asks for; empty where it asks for none. */
  toolCalls: ToolCall[];
  finishReason: FinishReason;
  /** All 0 when the provider sent no usage. */
  tokens: TokenUsage;
  cost: Cost;
  /** How long the call took. */
  modelMs: number;
  /** What the provider says served the call, e.g. `gpt-4o-mini-2024-07-18`; null when it doesn't say. */
  providerModel: string | null;
}

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
  /** In the order of their names. */
  models: ListedModel[];
}

/** A model with its price for short inputs; null where none is known. */
export interface ListedModel {
  model: string;
  pricing: Pricing | null;
}

/** Tells what can be chosen from. */
export interface ModelCatalogue {
  /** Every provider, those without credentials too. */
  providers(): ListedProvider[];
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
}

export { ModelError, type ModelErrorCode } from './model-error.ts';
export type { ProviderName, ResolvedModel } from './names.ts';
