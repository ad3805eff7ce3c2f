import type { ToolCall } from '../../domain/prompts/messages.ts';
import { type ExecutionRow, hasUnknownTokens } from '../../services/executions/executions.ts';
import { failureOf, type OpenAiError } from './errors.ts';
import { OpenAiStream } from './openai-stream.ts';
import { finishReasonOf, headOf, presentToolCall, usageOf, warningsOf } from './presenter.ts';

const dataOf = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

/** What a chunk adds to the message. */
interface Delta {
  role?: 'assistant';
  content?: string;
  refusal?: null;
  tool_calls?: (ReturnType<typeof presentToolCall> & { index: number })[];
}

/** The stream of chunks to one caller. */
export class CompletionChunks extends OpenAiStream {
  readonly #includeUsage: boolean;
  #head: ReturnType<typeof headOf> | undefined;

  /** @param id the execution id, a UUID */
  constructor(id: string, { includeUsage }: { includeUsage: boolean }) {
    super(id);
    this.#includeUsage = includeUsage;
  }

  protected override first(started: ExecutionRow): string {
    this.#head = headOf(started);
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  protected override text(content: string): string {
    return this.#chunk({ content });
  }

  protected override toolCall(toolCall: ToolCall, index: number): string {
    return this.#chunk({ tool_calls: [{ index, ...presentToolCall(toolCall) }] });
  }

  protected override completed(row: ExecutionRow): string {
    const hasUsage = this.#includeUsage && !hasUnknownTokens(row);
    const usage = hasUsage ? dataOf({ ...this.#frame(), choices: [], usage: usageOf(row) }) : '';
    return `${this.#chunk({}, finishReasonOf(row), warningsOf(row))}${usage}data: [DONE]\n\n`;
  }

  protected override ended(row: ExecutionRow): string {
    return this.error(failureOf(row, false).body);
  }

  protected override error(error: OpenAiError): string {
    return dataOf(error);
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
