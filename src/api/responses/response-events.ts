import type { ErrorDetail } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { StreamEvent } from '../../services/streams/stream-events.ts';
import { INTERRUPTED, type OpenAiStream, RESTARTED } from '../chat-completions/chunks.ts';
import { brokenOff } from '../chat-completions/errors.ts';
import { SentOutput } from '../chat-completions/sent-output.ts';
import { outputText, presentFunctionCall, presentMessage, presentResponse } from './presenter.ts';

type Item = ReturnType<typeof presentMessage> | ReturnType<typeof presentFunctionCall>;

/** One caller's stream in the format of the Responses API (https://platform.openai.com/docs/api-reference/responses-streaming). */
export class ResponseEvents implements OpenAiStream {
  readonly keepAlive = KEEP_ALIVE;
  hasStatus = false;
  failed: ExecutionRow | undefined;
  readonly #id: string;
  readonly #leftOut: ErrorDetail[];
  readonly #sent = new SentOutput();
  #started: ExecutionRow | undefined;
  #hasBegun = false;
  #isOver = false;
  #sequence = 0;
  /** By their index in the output. */
  readonly #items: Item[] = [];
  /** Where the message is in the output; undefined before its first word. */
  #messageIndex: number | undefined;

  /**
   * @param id of the execution, a UUID
   * @param leftOut of the request
   */
  constructor(id: string, leftOut: ErrorDetail[]) {
    this.#id = id;
    this.#leftOut = leftOut;
  }

  encode(event: StreamEvent): string {
    if (this.#isOver) return '';
    switch (event.type) {
      case 'execution.started':
        this.#started = event.execution;
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
    return this.#isOver ? '' : this.#breakOff(INTERRUPTED);
  }

  #addText(delta: string): string {
    const added = this.#sent.addText(delta);
    if (added === undefined) return this.#breakOff(RESTARTED);
    if (added === '') return '';
    return (
      this.#begin() +
      this.#beginMessage() +
      this.#ofMessage('response.output_text.delta', { delta: added, logprobs: [] })
    );
  }

  #addToolCall(toolCall: ToolCall): string {
    const added = this.#sent.addToolCall(toolCall);
    if (added === undefined) return this.#breakOff(RESTARTED);
    if (added.isKnown) return '';
    const item = presentFunctionCall(this.#id, added.index, toolCall);
    const place = { output_index: this.#items.push(item) - 1 };
    const ofItem = { ...place, item_id: item.id };
    return (
      this.#begin() +
      this.#event('response.output_item.added', { ...place, item: { ...item, status: 'in_progress', arguments: '' } }) +
      this.#event('response.function_call_arguments.delta', { ...ofItem, delta: item.arguments }) +
      this.#event('response.function_call_arguments.done', { ...ofItem, name: item.name, arguments: item.arguments }) +
      this.#event('response.output_item.done', { ...place, item })
    );
  }

  #complete(row: ExecutionRow): string {
    if (!this.#sent.isRepeated) return this.#breakOff(RESTARTED);
    this.#isOver = true;
    const begun = this.#begin();
    // A response that has neither words nor tool calls is a message without words.
    const message = this.#items.length === 0 ? this.#beginMessage() : '';
    const ended = this.#endMessage();
    const response = presentResponse(row, { output: this.#items, leftOut: this.#leftOut });
    const type = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
    return begun + message + ended + this.#event(type, { response });
  }

  #fail(row: ExecutionRow): string {
    this.#isOver = true;
    if (this.#hasBegun || this.hasStatus)
      return (
        this.#begin() + this.#event('response.failed', { response: presentResponse(row, { output: this.#items }) })
      );
    this.failed = row;
    return '';
  }

  #breakOff(reason: string): string {
    this.#isOver = true;
    const { code, message, param } = brokenOff(this.#id, reason).error;
    return this.#event('error', { code, message, param });
  }

  #begin(): string {
    if (this.#hasBegun || this.#started === undefined) return '';
    this.#hasBegun = true;
    // It has begun, whatever has become of it by the time that somebody reads it.
    const response = presentResponse({ ...this.#started, status: 'running' });
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  #beginMessage(): string {
    if (this.#messageIndex !== undefined) return '';
    const item = presentMessage(this.#id, 'in_progress');
    this.#messageIndex = this.#items.push(item) - 1;
    return (
      this.#event('response.output_item.added', { output_index: this.#messageIndex, item }) +
      this.#ofMessage('response.content_part.added', { part: outputText('') })
    );
  }

  #endMessage(): string {
    if (this.#messageIndex === undefined) return '';
    const { text } = this.#sent;
    const item = presentMessage(this.#id, 'completed', text);
    this.#items[this.#messageIndex] = item;
    return (
      this.#ofMessage('response.output_text.done', { text, logprobs: [] }) +
      this.#ofMessage('response.content_part.done', { part: outputText(text) }) +
      this.#event('response.output_item.done', { output_index: this.#messageIndex, item })
    );
  }

  #ofMessage(type: string, fields: object): string {
    const { id } = presentMessage(this.#id, 'in_progress');
    return this.#event(type, { item_id: id, output_index: this.#messageIndex, content_index: 0, ...fields });
  }

  #event(type: string, fields: object): string {
    const data = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return serverSentEvent({ event: type, data });
  }
}
