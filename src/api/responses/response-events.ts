import type { ErrorDetail } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import { serverSentEvent } from '../../http/event-stream.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { OpenAiError } from '../chat-completions/errors.ts';
import { OpenAiStream } from '../chat-completions/openai-stream.ts';
import { outputText, presentFunctionCall, presentMessage, presentResponse } from './presenter.ts';

type Item = ReturnType<typeof presentMessage> | ReturnType<typeof presentFunctionCall>;

/** The stream to one caller in the Responses format (https://platform.openai.com/docs/api-reference/responses-streaming). */
export class ResponseEvents extends OpenAiStream {
  readonly #leftOut: ErrorDetail[];
  #sequence = 0;
  /** Items by their index in the output. */
  readonly #items: Item[] = [];
  /** The index of the message in the output; undefined before its first text. */
  #messageIndex: number | undefined;

  /**
   * @param id the execution id, a UUID
   * @param leftOut the ignored fields of the request
   */
  constructor(id: string, leftOut: ErrorDetail[]) {
    super(id);
    this.#leftOut = leftOut;
  }

  protected override first(started: ExecutionRow): string {
    // Reported as started, even if it has ended by the time it is read.
    const response = presentResponse({ ...started, status: 'running' });
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  protected override text(delta: string): string {
    return this.#beginMessage() + this.#ofMessage('response.output_text.delta', { delta, logprobs: [] });
  }

  protected override toolCall(toolCall: ToolCall, index: number): string {
    const item = presentFunctionCall(this.id, index, toolCall);
    const place = { output_index: this.#items.push(item) - 1 };
    const ofItem = { ...place, item_id: item.id };
    return (
      this.#event('response.output_item.added', { ...place, item: { ...item, status: 'in_progress', arguments: '' } }) +
      this.#event('response.function_call_arguments.delta', { ...ofItem, delta: item.arguments }) +
      this.#event('response.function_call_arguments.done', { ...ofItem, name: item.name, arguments: item.arguments }) +
      this.#event('response.output_item.done', { ...place, item })
    );
  }

  protected override completed(row: ExecutionRow): string {
    // A response with neither text nor tool calls is an empty message.
    const message = this.#items.length === 0 ? this.#beginMessage() : '';
    const ended = this.#endMessage();
    const response = presentResponse(row, { output: this.#items, leftOut: this.#leftOut });
    const type = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
    return message + ended + this.#event(type, { response });
  }

  protected override ended(row: ExecutionRow): string {
    return this.begin() + this.#event('response.failed', { response: presentResponse(row, { output: this.#items }) });
  }

  protected override error({ error: { code, message, param } }: OpenAiError): string {
    return this.#event('error', { code, message, param });
  }

  #beginMessage(): string {
    if (this.#messageIndex !== undefined) return '';
    const item = presentMessage(this.id, 'in_progress');
    this.#messageIndex = this.#items.push(item) - 1;
    return (
      this.#event('response.output_item.added', { output_index: this.#messageIndex, item }) +
      this.#ofMessage('response.content_part.added', { part: outputText('') })
    );
  }

  #endMessage(): string {
    if (this.#messageIndex === undefined) return '';
    const { text } = this.sent;
    const item = presentMessage(this.id, 'completed', text);
    this.#items[this.#messageIndex] = item;
    return (
      this.#ofMessage('response.output_text.done', { text, logprobs: [] }) +
      this.#ofMessage('response.content_part.done', { part: outputText(text) }) +
      this.#event('response.output_item.done', { output_index: this.#messageIndex, item })
    );
  }

  #ofMessage(type: string, fields: object): string {
    const { id } = presentMessage(this.id, 'in_progress');
    return this.#event(type, { item_id: id, output_index: this.#messageIndex, content_index: 0, ...fields });
  }

  #event(type: string, fields: object): string {
    const data = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return serverSentEvent({ event: type, data });
  }
}
