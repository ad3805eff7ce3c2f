import type { ChatMessage, ToolCall } from '../../../domain/prompts/messages.ts';
import type { Arm } from '../../../domain/releases/rollout.ts';
import type { JsonValue } from '../../../domain/text/json.ts';

/** A run that an application made itself, as it tells of it. What it says of its times was checked. */
export interface RecordedRun {
  /** The UUID of the execution, or what the application calls the run: the same again is not stored again. Default: one is made. */
  id?: { uuid: string } | { key: string } | undefined;
  promptName?: string | undefined;
  promptVersion?: number | undefined;
  label?: string | undefined;
  /** `provider/model`, what the provider calls the model, or a bare name that one provider is known to serve. */
  model: string;
  provider?: string | undefined;
  variables: Record<string, JsonValue>;
  /** What the model was sent. */
  input: string | ChatMessage[];
  output: string | null;
  toolCalls: ToolCall[];
  /** Undefined: they are not known. */
  tokens?: { input: number; output: number; cached_input: number; reasoning: number; cache_write?: number } | undefined;
  /** US dollars, as a decimal. Undefined: by the tokens and the price list. */
  cost?: string | undefined;
  /** How long the model took to respond. Default: from the start to the end. */
  modelMs?: number | undefined;
  /** Null: it has completed. */
  error: { code: string; message: string } | null;
  startedAt: Date;
  finishedAt: Date;
  metadata: Record<string, string>;
  /** The release that decided its version. */
  release?: { id: string; arm: Arm; keyed: boolean } | undefined;
}
