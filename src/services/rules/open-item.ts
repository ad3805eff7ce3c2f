import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { RuleSubject } from './rule-work.ts';

/** An execution or trace to be scored. */
export interface OpenItem {
  /** The number of the item. */
  seq: number;
  subject: RuleSubject;
  /** For a trace: names the state that is scored. */
  revision?: string | undefined;
  output: string;
  toolCalls: ToolCall[];
  variables: Record<string, JsonValue>;
  metadata: Record<string, string>;
  /** A filled template; null if the prompt is a list of messages. */
  input: string | null;
  inputMessages: ChatMessage[] | null;
  /** For a trace: its steps in words. */
  steps?: string | undefined;
  modelMs: number | null;
  /** Decimal; null if unknown. */
  costUsd: string | null;
  /** The size of its texts. */
  bytes: number;
}

/** Items, and the numbers of those that are not to be scored. */
export interface LoadedItems {
  items: OpenItem[];
  unmeant: number[];
}
