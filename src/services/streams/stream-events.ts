import { ApiError } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import type { ExecutionRow } from '../executions/executions.ts';

/** `attempt.sequence`: the number of the call of the execution, and of the event of that call, both from 1. */
export interface EventId {
  attempt: number;
  sequence: number;
}

/** An event for a reader of an execution. */
export type StreamEvent = { id: EventId } & (
  | { type: 'execution.started'; execution: ExecutionRow }
  | { type: 'output_text.delta'; delta: string }
  | { type: 'tool_call'; toolCall: ToolCall }
  /** Earlier events belong to a call whose response was not kept, or are sent again. */
  | { type: 'execution.restarted' }
  | { type: 'execution.completed' | 'execution.failed' | 'execution.canceled'; execution: ExecutionRow }
);

/** The serialization of events. */
export interface StreamFormat {
  /** Readers that have the same function and are at the same event share its result. */
  encode(event: StreamEvent): string;
  /** Sent so that the connection is not considered dead. */
  keepAlive: string;
}

const EVENT_ID = /^([1-9]\d{0,8})\.([1-9]\d{0,8})$/;

/**
 * Parses `Last-Event-ID`.
 * @throws ApiError `invalid_request`
 */
export function parseEventId(text: string): EventId {
  const [, attempt, sequence] = EVENT_ID.exec(text) ?? [];
  if (attempt === undefined || sequence === undefined) throw invalidEventId('is not an event id');
  return { attempt: Number(attempt), sequence: Number(sequence) };
}

/** `invalid_request` about the header, with advice. */
export function invalidEventId(problem: string): ApiError {
  return new ApiError(
    'invalid_request',
    `Last-Event-ID ${problem}: send the id of the last event that you received of this execution, such as 1.42, or leave the header out to read from the beginning.`,
  );
}
