import type { ErrorDetail } from '../domain/errors.ts';
import type { ModelInput, ToolCall } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../domain/prompts/prompt-content.ts';
import type { Cost, TokenUsage } from '../domain/usage.ts';

/** The purpose of a call, as far as known. Only for operators; ids are public. */
export interface CallOrigin {
  prompt?: { name: string | null; version: number | null };
  execution?: string;
  evaluation?: string;
}

/** One call to a model. */
export interface ModelCall {
  /** Public id of the workspace: files fetched for the call count against its memory share. */
  workspace: string;
  /** `provider/model`, or a bare name that can be resolved. */
  model: string;
  /** The filled prompt. A string is sent as one user message. */
  input: ModelInput;
  /** Tools that the model can call; default none. */
  tools?: Tool[] | null;
  /** Default: the model decides. */
  toolChoice?: ToolChoice | null;
  parameters: ModelParameters;
  /** If set, the response is streamed: called with each piece as it arrives; must not throw. The response is the same as without. */
  onDelta?: ((delta: ModelDelta) => void) | undefined;
  origin?: CallOrigin;
  /** Cancels the call, which then rejects with the signal's reason. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** One call for embeddings that compares a text with others. */
export interface SimilarityCall extends Pick<ModelCall, 'model' | 'origin' | 'signal' | 'timeoutMs'> {
  /** Public id of the workspace. */
  workspace: string;
  text: string;
  /** Texts to compare with; at least one. */
  others: readonly string[];
}

/** The result of the comparison. */
export interface SimilarityResponse extends Pick<ModelResponse, 'tokens' | 'cost' | 'modelMs' | 'providerModel'> {
  /** The cosine similarities of the text and each other one, -1..1, in order. */
  similarities: number[];
}

/** A piece of a response: text to append, or a complete tool call. */
export type ModelDelta = { type: 'text'; text: string } | { type: 'tool_call'; toolCall: ToolCall };

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** A model's response. */
export interface ModelResponse {
  output: string;
  /** The tool calls that the model requested; empty if none. */
  toolCalls: ToolCall[];
  finishReason: FinishReason;
  /** Null if the provider sent no usage. */
  tokens: TokenUsage | null;
  cost: Cost;
  /** The duration of the call. */
  modelMs: number;
  /** Content that was changed or left out when sent. Undefined if none. */
  warnings?: ErrorDetail[];
  /** The model that served the call according to the provider, e.g. `gpt-4o-mini-2024-07-18`; null if not reported. */
  providerModel: string | null;
  /** Unknown kinds of parts and events in the response that were left out. Undefined if none. */
  skipped?: string[];
}
