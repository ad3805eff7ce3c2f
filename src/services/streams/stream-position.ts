import type { ToolCall } from '../../domain/prompts/messages.ts';
import { BEGINNING, type DeltaRow } from './deltas.ts';
import type { StreamEvent } from './stream-events.ts';

/** The largest number that the column of sequences holds. */
const MAX_SEQUENCE = 2_147_483_647;

/** The last event sent to a reader, and where it continues. */
export interface Position {
  /** The attempt of the last event. */
  attempt: number;
  sequence: number;
  /** Rows of this attempt are missing, so no more of them are sent; 0 if there is none. */
  skippedAttempt: number;
}

/** The position after which to continue reading rows. */
export function readAfter({ attempt, sequence, skippedAttempt }: Position): { attempt: number; sequence: number } {
  return skippedAttempt >= attempt ? { attempt: skippedAttempt, sequence: MAX_SEQUENCE } : { attempt, sequence };
}

/**
 * Converts rows into events and the position after them. A row after a gap is not sent, nor is the rest of its attempt: its
 * reader gets the text at the end of the execution.
 */
export function follow(from: Position, rows: readonly DeltaRow[]): { events: StreamEvent[]; position: Position } {
  const events: StreamEvent[] = [];
  let position = from;
  for (const { attempt, sequence, type, data } of rows) {
    if (attempt <= position.skippedAttempt) continue;
    const isNext = attempt === position.attempt ? sequence === position.sequence + 1 : sequence === BEGINNING + 1;
    if (!isNext) {
      position = { ...position, skippedAttempt: attempt };
      continue;
    }
    if (attempt !== position.attempt)
      events.push({ type: 'execution.restarted', id: { attempt, sequence: BEGINNING } });
    const id = { attempt, sequence };
    if (type === 'text') events.push({ type: 'output_text.delta', id, delta: data });
    else {
      const toolCall: ToolCall = JSON.parse(data);
      events.push({ type: 'tool_call', id, toolCall });
    }
    position = { attempt, sequence, skippedAttempt: position.skippedAttempt };
  }
  return { events, position };
}
