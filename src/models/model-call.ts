import type { ErrorDetail } from '../domain/errors.ts';
import type { ModelInput, ToolCall } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../domain/prompts/prompt-content.ts';
import type { Cost, TokenUsage } from '../domain/usage.ts';

/** What a call is made for, as far as it is known. Only tells operators; ids are the public ones. */
export interface CallOrigin {
  prompt?: { name: string | null; version: number | null };
  execution?: string;
  evaluation?: string;
}

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
  origin?: CallOrigin;
  /** Cancels the call, which then rejects with the signal's reason. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** One call for embeddings, by which a text is compared with others. */
export interface SimilarityCall extends Pick<ModelCall, 'model' | 'origin' | 'signal' | 'timeoutMs'> {
  /** Public id of the workspace that it is made for. */
  workspace: string;
  text: string;
  /** Texts that it is compared with; at least one. */
  others: readonly string[];
}

/** What came of it. */
export interface SimilarityResponse extends Pick<ModelResponse, 'tokens' | 'cost' | 'modelMs' | 'providerModel'> {
  /** The cosine of the embeddings of the text and of each other one, -1..1, in their order. */
  similarities: number[];
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
  /** Null when the provider sent no usage. */
  tokens: TokenUsage | null;
  cost: Cost;
  /** How long the call took. */
  modelMs: number;
  /** What was sent in another way than it was given, or left out. Undefined: nothing. */
  warnings?: ErrorDetail[];
  /** What the provider says served the call, e.g. `gpt-4o-mini-2024-07-18`; null when it doesn't say. */
  providerModel: string | null;
  /** Kinds of parts and events of the response that are not known, and were left out. Undefined: none. */
  skipped?: string[];
}
