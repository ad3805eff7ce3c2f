import type { ToolCall } from '../../domain/prompts/messages.ts';
import { KEEP_ALIVE } from '../../http/event-stream.ts';
import { type ExecutionRow, hasUnknownTokens } from '../../services/executions/executions.ts';
import type { StreamEvent, StreamFormat } from '../../services/streams/stream-events.ts';
import { brokenOff, failureOf, type OpenAiError } from './errors.ts';
import { finishReasonOf, headOf, presentToolCall, usageOf, warningsOf } from './presenter.ts';
import { SentOutput } from './sent-output.ts';

export const RESTARTED = 'The response was restarted and differs from what was already sent.';
export const INTERRUPTED = 'The stream was interrupted.';

const dataOf = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

/** What a chunk adds to the message. */
interface Delta {
  role?: 'assistant';
  content?: string;
  refusal?: null;
  tool_calls?: (ReturnType<typeof presentToolCall> & { index: number })[];
}

/** A caller's stream in one of OpenAI's formats. */
export interface OpenAiStream extends StreamFormat {
  /** The caller was told that there is a stream: failures can't be a status any more. */
  hasStatus: boolean;
  /** The execution, where it ended without a completion before anything was sent of one. */
  readonly failed: ExecutionRow | undefined;
  /** What is sent behind the last event: nothing where that was the end, else an error. */
  close(): string;
}

/** One caller's stream of chunks. */
export class CompletionChunks implements OpenAiStream {
  readonly keepAlive = KEEP_ALIVE;
  hasStatus = false;
  failed: ExecutionRow | undefined;
  readonly #id: string;
  readonly #includeUsage: boolean;
  #head: ReturnType<typeof headOf> | undefined;
  #hasBegun = false;
  #isOver = false;
  readonly #sent = new SentOutput();

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
        this.#sent.restart();
        return '';
      case 'execution.completed':
        return this.#complete(event.execution);
      default:
        return this.#fail(event.execution);
    }
  }

  close(): string {
    return this.#isOver ? '' : this.#breakOff(brokenOff(this.#id, INTERRUPTED));
  }

  #addText(delta: string): string {
    const content = this.#sent.addText(delta);
    if (content === undefined) return this.#breakOff(brokenOff(this.#id, RESTARTED));
    return content === '' ? '' : this.#begin() + this.#chunk({ content });
  }

  #addToolCall(toolCall: ToolCall): string {
    const added = this.#sent.addToolCall(toolCall);
    if (added === undefined) return this.#breakOff(brokenOff(this.#id, RESTARTED));
    const { index, isKnown } = added;
    return isKnown ? '' : this.#begin() + this.#chunk({ tool_calls: [{ index, ...presentToolCall(toolCall) }] });
  }

  #complete(row: ExecutionRow): string {
    if (!this.#sent.isRepeated) return this.#breakOff(brokenOff(this.#id, RESTARTED));
    this.#isOver = true;
    const end = this.#begin() + this.#chunk({}, finishReasonOf(row), warningsOf(row));
    const hasUsage = this.#includeUsage && !hasUnknownTokens(row);
    const usage = hasUsage ? dataOf({ ...this.#frame(), choices: [], usage: usageOf(row) }) : '';
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

  #chunk(delta: Delta, finishReason: string | null = null, others: ReturnType<typeof warningsOf> = {}): string {
    return dataOf({
      ...this.#frame(),
      ...others,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(this.#includeUsage && { usage: null }),
    });
  }

  #frame() {
    return { ...this.#head, object: 'chat.completion.chunk' };
  }
}
