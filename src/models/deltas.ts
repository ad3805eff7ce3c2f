import { storableText } from '../domain/text/storable-text.ts';
import type { ModelDelta, ModelResponse } from './model.ts';

export interface Deltas {
  /** Passes on a piece of the response's text. */
  text(piece: string): void;
  /** Passes on the rest of the response that did not arrive in pieces: remaining text, tool calls. */
  end(response: Pick<ModelResponse, 'output' | 'toolCalls'>): void;
}

const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/** Passes pieces on so that together they are the response's output. */
export function createDeltas(onDelta: (delta: ModelDelta) => void): Deltas {
  let sent = 0;
  /** The first half of a surrogate pair whose second half comes in the next piece. */
  let half = '';

  function send(text: string): void {
    if (text === '') return;
    sent += text.length;
    onDelta({ type: 'text', text });
  }

  return {
    text(piece) {
      const text = half + piece;
      half = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? '';
      send(storableText(text.slice(0, text.length - half.length)));
    },
    end({ output, toolCalls }) {
      send(output.slice(sent));
      for (const toolCall of toolCalls) onDelta({ type: 'tool_call', toolCall });
    },
  };
}
