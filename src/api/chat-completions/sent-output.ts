import type { ToolCall } from '../../domain/prompts/messages.ts';

/**
 * What one caller has received of a response, for formats that cannot retract anything. If an execution restarts (retry,
 * fallback, another worker), nothing is sent while the new response matches what was sent; then the stream continues. If they
 * differ, the stream must end: no caller may get half of one response and the rest of another.
 */
export class SentOutput {
  text = '';
  readonly #toolCalls: string[] = [];
  /** How much of it the current model call has repeated. */
  #said = { chars: 0, toolCalls: 0 };

  /** @returns the part not sent yet; undefined if it differs from the text already sent */
  addText(delta: string): string | undefined {
    const known = this.text.slice(this.#said.chars, this.#said.chars + delta.length);
    if (!delta.startsWith(known)) return undefined;
    this.#said.chars += delta.length;
    const added = delta.slice(known.length);
    this.text += added;
    return added;
  }

  /** @returns its index from 0 and whether it was sent before; undefined if it differs from the text already sent */
  addToolCall(toolCall: ToolCall): { index: number; isKnown: boolean } | undefined {
    const index = this.#said.toolCalls;
    const json = JSON.stringify(toolCall);
    const known = this.#toolCalls[index];
    if (known !== undefined && known !== json) return undefined;
    this.#said.toolCalls += 1;
    if (known === undefined) this.#toolCalls.push(json);
    return { index, isKnown: known !== undefined };
  }

  /** Called when another model call starts. */
  restart(): void {
    this.#said = { chars: 0, toolCalls: 0 };
  }

  /** Whether the current call has repeated everything that was sent. */
  get isRepeated(): boolean {
    return this.#said.chars >= this.text.length && this.#said.toolCalls >= this.#toolCalls.length;
  }
}
