import type { ToolCall } from '../../domain/messages.ts';
import { KEEP_ALIVE } from '../../http/event-stream.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { StreamEvent, StreamFormat } from '../../services/streams/stream-events.ts';
import { brokenOff, failureOf, type OpenAiError } from './errors.ts';
import { finishReasonOf, headOf, presentToolCall, usageOf } from './presenter.ts';

const RESTARTED = 'The response began anew, and differs from what was sent.';
const INTERRUPTED = 'The stream was interrupted.';

const dataOf = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

/** What a chunk adds to the message. */
interface Delta {
  role?: 'assistant';
  content?: string;
  refusal?: null;
  tool_calls?: (ReturnType<typeof presentToolCall> & { index: number })[];
}

/**
 * One caller's stream in OpenAI's format, which has no way to take back what was sent. Where an execution begins anew (a retry, a
 * fallback, another worker), the new response is compared with what was sent: as long as it is the same, nothing is sent; it goes on
 * behind that. Where it differs, the stream ends with an error: whoever has half a sentence must not be given the end of another.
 */
export class CompletionChunks implements StreamFormat {
  readonly keepAlive = KEEP_ALIVE;
  /** The caller was told that there is a stream: failures can't be a status any more. */
  hasStatus = false;
  /** The execution, where it ended without a completion before anything was sent of one. */
  failed: ExecutionRow | undefined;
  readonly #id: string;
  readonly #includeUsage: boolean;
  #head: ReturnType<typeof headOf> | undefined;
  #hasBegun = false;
  #isOver = false;
  /** What was sent, and how much of it the present call has said. */
  #text = '';
  #toolCalls: string[] = [];
  #said = { chars: 0, toolCalls: 0 };

  /** @param id of the execution, a UUID */
  constructor(id: string, { includeUsage }: { includeUsage: boolean }) {
    this.#id = id;
    this.#includeUsage = includeUsage;
  }

  encode(event: StreamEvent): string {
    if (this.#isOver) return '';
    switch (event.type) {
      case 'execution.started':
        this.#head = headOf(event.execution);
        return '';
      case 'output_text.delta':
        return this.#addText(event.delta);
      case 'tool_call':
        return this.#addToolCall(event.toolCall);
      case 'execution.restarted':
        this.#said = { chars: 0, toolCalls: 0 };
        return '';
      case 'execution.completed':
        return this.#complete(event.execution);
      default:
        return this.#fail(event.execution);
    }
  }

  /** What is sent behind the last event: nothing where that was the end, else an error. */
  close(): string {
    return this.#isOver ? '' : this.#breakOff(brokenOff(this.#id, INTERRUPTED));
  }

  #addText(delta: string): string {
    const known = this.#text.slice(this.#said.chars, this.#said.chars + delta.length);
    if (!delta.startsWith(known)) return this.#breakOff(brokenOff(this.#id, RESTARTED));
    this.#said.chars += delta.length;
    const content = delta.slice(known.length);
    this.#text += content;
    return content === '' ? '' : this.#begin() + this.#chunk({ content });
  }

  #addToolCall(toolCall: ToolCall): string {
    const index = this.#said.toolCalls;
    const json = JSON.stringify(toolCall);
    const known = this.#toolCalls[index];
    if (known !== undefined && known !== json) return this.#breakOff(brokenOff(this.#id, RESTARTED));
    this.#said.toolCalls += 1;
    if (known !== undefined) return '';
    this.#toolCalls.push(json);
    return this.#begin() + this.#chunk({ tool_calls: [{ index, ...presentToolCall(toolCall) }] });
  }

  #complete(row: ExecutionRow): string {
    if (this.#said.chars < this.#text.length || this.#said.toolCalls < this.#toolCalls.length)
      return this.#breakOff(brokenOff(this.#id, RESTARTED));
    this.#isOver = true;
    const end = this.#begin() + this.#chunk({}, finishReasonOf(row));
    const usage = this.#includeUsage ? dataOf({ ...this.#frame(), choices: [], usage: usageOf(row) }) : '';
    return `${end}${usage}data: [DONE]\n\n`;
  }

  #fail(row: ExecutionRow): string {
    if (this.#hasBegun || this.hasStatus) return this.#breakOff(failureOf(row, false).body);
    this.failed = row;
    this.#isOver = true;
    return '';
  }

  #breakOff(error: OpenAiError): string {
    this.#isOver = true;
    return dataOf(error);
  }

  #begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  #chunk(delta: Delta, finishReason: string | null = null): string {
    return dataOf({
      ...this.#frame(),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(this.#includeUsage && { usage: null }),
    });
  }

  #frame() {
    return { ...this.#head, object: 'chat.completion.chunk' };
  }
}
