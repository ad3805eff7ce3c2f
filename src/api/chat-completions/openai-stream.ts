import type { ToolCall } from '../../domain/prompts/messages.ts';
import { KEEP_ALIVE } from '../../http/event-stream.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { StreamEvent, StreamFormat } from '../../services/streams/stream-events.ts';
import { brokenOff, type OpenAiError } from './errors.ts';

/**
 * What one caller has received of a response, for formats that cannot retract anything. If an execution restarts (retry,
 * fallback, another worker), nothing is sent while the new response matches what was sent; then the stream continues. If they
 * differ, the stream must end: no caller may get half of one response and the rest of another.
 */
class SentOutput {
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

const RESTARTED = 'The response was restarted and differs from the part that was already sent.';
const INTERRUPTED = 'The stream was interrupted.';

/** The stream to one caller in one of OpenAI's formats. */
export abstract class OpenAiStream implements StreamFormat {
  readonly keepAlive = KEEP_ALIVE;
  /** Whether the stream has started: a failure can then no longer be an HTTP status. */
  hasStatus = false;
  /** The execution, if it ended without a completion before anything was sent. */
  failed: ExecutionRow | undefined;
  protected readonly id: string;
  protected readonly sent = new SentOutput();
  #started: ExecutionRow | undefined;
  #hasStarted = false;
  #isOver = false;

  /** @param id the execution id, a UUID */
  constructor(id: string) {
    this.id = id;
  }

  /** The first event of the stream. */
  protected abstract first(started: ExecutionRow): string;
  protected abstract text(added: string): string;
  protected abstract toolCall(toolCall: ToolCall, index: number): string;
  protected abstract completed(row: ExecutionRow): string;
  /** Called if the execution ends without a completion. */
  protected abstract ended(row: ExecutionRow): string;
  protected abstract error(error: OpenAiError): string;

  encode(event: StreamEvent): string {
    if (this.#isOver) return '';
    switch (event.type) {
      case 'execution.started':
        this.#started = event.execution;
        return '';
      case 'output_text.delta': {
        const added = this.sent.addText(event.delta);
        if (added === undefined) return this.#breakOff(RESTARTED);
        return added === '' ? '' : this.begin() + this.text(added);
      }
      case 'tool_call': {
        const added = this.sent.addToolCall(event.toolCall);
        if (added === undefined) return this.#breakOff(RESTARTED);
        return added.isKnown ? '' : this.begin() + this.toolCall(event.toolCall, added.index);
      }
      case 'execution.restarted':
        this.sent.restart();
        return '';
      case 'execution.completed':
        if (!this.sent.isRepeated) return this.#breakOff(RESTARTED);
        this.#isOver = true;
        return this.begin() + this.completed(event.execution);
      default:
        this.#isOver = true;
        if (this.#hasStarted || this.hasStatus) return this.ended(event.execution);
        this.failed = event.execution;
        return '';
    }
  }

  /** What to send after the last event: nothing if the stream ended properly, otherwise an error. */
  close(): string {
    return this.#isOver ? '' : this.#breakOff(INTERRUPTED);
  }

  /** Returns `first` once. */
  protected begin(): string {
    if (this.#hasStarted || this.#started === undefined) return '';
    this.#hasStarted = true;
    return this.first(this.#started);
  }

  #breakOff(reason: string): string {
    this.#isOver = true;
    return this.error(brokenOff(this.id, reason));
  }
}
