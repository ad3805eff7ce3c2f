import type { ToolCall } from '../../domain/prompts/messages.ts';

/**
 * What one caller was sent of a response, in a format that has no way to take it back. Where an execution begins anew (a retry, a
 * fallback, another worker), the new response is compared with what was sent: as long as it is the same, nothing is sent; it goes
 * on behind that. Where it differs, the stream has to end: whoever has half a sentence must not be given the end of another.
 */
export class SentOutput {
  text = '';
  readonly #toolCalls: string[] = [];
  /** How much of it the present call of the model has said. */
  #said = { chars: 0, toolCalls: 0 };

  /** @returns what of it was not sent yet; undefined where it differs from what was sent */
  addText(delta: string): string | undefined {
    const known = this.text.slice(this.#said.chars, this.#said.chars + delta.length);
    if (!delta.startsWith(known)) return undefined;
    this.#said.chars += delta.length;
    const added = delta.slice(known.length);
    this.text += added;
    return added;
  }

  /** @returns which one it is, from 0, and whether it was sent before; undefined where it differs from what was sent */
  addToolCall(toolCall: ToolCall): { index: number; isKnown: boolean } | undefined {
    const index = this.#said.toolCalls;
    const json = JSON.stringify(toolCall);
    const known = this.#toolCalls[index];
    if (known !== undefined && known !== json) return undefined;
    this.#said.toolCalls += 1;
    if (known === undefined) this.#toolCalls.push(json);
    return { index, isKnown: known !== undefined };
  }

  /** Another call of the model begins. */
  restart(): void {
    this.#said = { chars: 0, toolCalls: 0 };
  }

  /** Whether the present call has said all that was sent. */
  get isRepeated(): boolean {
    return this.#said.chars >= this.text.length && this.#said.toolCalls >= this.#toolCalls.length;
  }
}
