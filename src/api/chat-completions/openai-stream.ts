import type { ToolCall } from '../../domain/prompts/messages.ts';
import { KEEP_ALIVE } from '../../http/event-stream.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { StreamEvent, StreamFormat } from '../../services/streams/stream-events.ts';
import { brokenOff, type OpenAiError } from './errors.ts';
import { SentOutput } from './sent-output.ts';

const RESTARTED = 'The response was restarted and differs from what was already sent.';
const INTERRUPTED = 'The stream was interrupted.';

/** One caller's stream in one of OpenAI's formats. */
export abstract class OpenAiStream implements StreamFormat {
  readonly keepAlive = KEEP_ALIVE;
  /** The caller was told that there is a stream: failures can't be a status any more. */
  hasStatus = false;
  /** The execution, where it ended without a completion before anything was sent of one. */
  failed: ExecutionRow | undefined;
  protected readonly id: string;
  protected readonly sent = new SentOutput();
  #started: ExecutionRow | undefined;
  #hasStarted = false;
  #isOver = false;

  /** @param id of the execution, a UUID */
  constructor(id: string) {
    this.id = id;
  }

  /** What is sent before anything else. */
  protected abstract first(started: ExecutionRow): string;
  protected abstract text(added: string): string;
  protected abstract toolCall(toolCall: ToolCall, index: number): string;
  protected abstract completed(row: ExecutionRow): string;
  /** The execution ended without a completion. */
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

  /** What is sent behind the last event: nothing where that was the end, else an error. */
  close(): string {
    return this.#isOver ? '' : this.#breakOff(INTERRUPTED);
  }

  /** `first`, once. */
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
