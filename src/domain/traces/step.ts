import type { ChatMessage, ToolCall } from '../prompts/messages.ts';
import type { Arm } from '../releases/rollout.ts';
import type { JsonValue } from '../text/json.ts';

export const STEP_TYPES = [
  'agent',
  'model',
  'tool',
  'retrieval',
  'embedding',
  'rerank',
  'guardrail',
  'evaluator',
  'chain',
  'other',
] as const;
export type StepType = (typeof STEP_TYPES)[number];

export const STEP_STATUSES = ['running', 'ok', 'error'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Tokens of a step. `cached_input` and `cache_write` are parts of `input`, `reasoning` is a part of `output`. */
export interface StepTokens {
  input: number;
  output: number;
  cached_input: number;
  cache_write: number;
  reasoning: number;
}

/** Attributes by name, as they were sent. Unsafe int64 integers, NaN and infinities are texts; bytes are base64. */
export type Attributes = Record<string, JsonValue>;

export interface StepEvent {
  name: string;
  /** Microseconds since 1970. */
  at: number;
  attributes: Attributes;
}

export interface StepLink {
  traceId: string;
  spanId: string;
  attributes: Attributes;
}

/** A score that a span reports (`gen_ai.evaluation.result`). */
export interface StepScore {
  name: string;
  /** A number, or the label of a category. */
  value: number | string;
  explanation: string | null;
}

/** A span as this service reads it. All texts can be stored: they are well-formed and without U+0000. */
export interface Step {
  /** 32 lowercase hexadecimal digits. */
  traceId: string;
  /** 16 lowercase hexadecimal digits: the span id. */
  id: string;
  /** Null if it has none. The parent can be an unknown step. */
  parentId: string | null;
  type: StepType;
  name: string;
  /** `running`: it has not ended. */
  status: StepStatus;
  /** The error message. Null if there is no error, or it has no message. */
  error: string | null;
  /** The kind of error, such as `TimeoutError` or `429`. */
  errorType: string | null;
  /** Microseconds since 1970: a safe integer. */
  startedAt: number;
  /** The same; never before `startedAt`. Null if it has not ended. */
  endedAt: number | null;
  /** As named by the span, without the provider. */
  model: string | null;
  /** Such as `openai`. */
  provider: string | null;
  /** Such as `temperature`, under the names of OpenTelemetry's conventions. */
  parameters: Attributes;
  tool: string | null;
  agent: string | null;
  /** Null if it was not captured. Models have messages. */
  input: string | ChatMessage[] | null;
  /** Null if it was not captured, or there are only tool calls. */
  output: string | null;
  /** Tool calls that a model requested. */
  toolCalls: ToolCall[];
  /** Null if the span reports none. */
  tokens: StepTokens | null;
  /** US dollars, as a decimal reported by the span. Null if it is to be calculated from the price list. */
  cost: string | null;
  /** US dollars, as a decimal, for a model without a price. */
  fallbackCost: string | null;
  /** As it was sent: the prompt may not exist. */
  prompt: { name: string; version: number | null } | null;
  /** As it was sent: `rel_…`, and the arm. */
  release: { id: string; arm: Arm } | null;
  conversationId: string | null;
  userId: string | null;
  tags: string[];
  metadata: Record<string, string>;
  service: string | null;
  environment: string | null;
  scope: { name: string; version: string | null } | null;
  resource: Attributes;
  /** Attributes that no other field holds. */
  attributes: Attributes;
  events: StepEvent[];
  links: StepLink[];
  /** The cut fields: `input`, `output`, `attributes`, `attributes.NAME`, `events`, `links`, … */
  cut: string[];
  /** `exec_…`: the step is a run of this service (`pms.execution.id`, or `gen_ai.response.id`). */
  executionId: string | null;
  /** The provider's id of the response. */
  responseId: string | null;
  /** Whether the sender marked the trace as ended (`pms.trace.complete`). */
  complete: boolean;
  scores: StepScore[];
}
