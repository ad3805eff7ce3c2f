import type { ChatMessage, ToolCall } from '../../../domain/prompts/messages.ts';
import type { Arm } from '../../../domain/releases/rollout.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import type { StepType } from '../../../domain/traces/step.ts';

/** A run that an application made itself and reports. Its times have been validated. */
export interface RecordedRun {
  /** The UUID of the execution, or the application's own key for the run: a repeated id is not stored again. Default: generated. */
  id?: { uuid: string } | { key: string } | undefined;
  promptName?: string | undefined;
  promptVersion?: number | undefined;
  label?: string | undefined;
  /** `provider/model`, the provider's name of the model, or a bare name that only one provider is known to serve. */
  model: string;
  provider?: string | undefined;
  variables: Record<string, JsonValue>;
  /** What the model was sent. */
  input: string | ChatMessage[];
  output: string | null;
  toolCalls: ToolCall[];
  /** Undefined if unknown. */
  tokens?: { input: number; output: number; cached_input: number; reasoning: number; cache_write?: number } | undefined;
  /** US dollars, as a decimal. Undefined: calculated from the tokens and the price list. */
  cost?: string | undefined;
  /** How long the model took to respond. Default: the time from start to end. */
  modelMs?: number | undefined;
  /** Null if it completed. */
  error: { code: string; message: string } | null;
  startedAt: Date;
  finishedAt: Date;
  metadata: Record<string, string>;
  /** The release that decided its version. */
  release?: { id: string; arm: Arm; keyed: boolean } | undefined;
  /** Its step in a trace. `id`: UUID; `type` is null if a span was recorded. */
  trace?: { id: string; spanId?: string | undefined; parentId: string | null; type: StepType | null } | undefined;
  conversationId?: string | undefined;
}
