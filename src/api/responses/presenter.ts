import type { z } from 'zod';
import type { ErrorDetail } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool } from '../../domain/prompts/prompt-content.ts';
import { type ExecutionRow, hasUnknownTokens, toolCallsOf } from '../../services/executions/executions.ts';
import { failureOf } from '../chat-completions/errors.ts';
import { argumentsOf, finishReasonOf, headOf, usageOf, warningsOf } from '../chat-completions/presenter.ts';
import { functionCallId, messageId } from './item-ids.ts';
import type { ModelResponse, OutputItem } from './schema.ts';

type Item = z.input<typeof OutputItem>;
type ItemStatus = Item['status'];

export const outputText = (text: string) => ({ type: 'output_text' as const, text, annotations: [], logprobs: [] });

/** @param text undefined if there is none yet */
export function presentMessage(executionId: string, status: ItemStatus, text?: string) {
  return {
    id: messageId(executionId),
    type: 'message' as const,
    status,
    role: 'assistant' as const,
    content: text === undefined ? [] : [outputText(text)],
  };
}

/** @param index of the tool call in the execution, from 0 */
export function presentFunctionCall(executionId: string, index: number, { id, name, input }: ToolCall) {
  return {
    id: functionCallId(executionId, index),
    type: 'function_call' as const,
    status: 'completed' as const,
    call_id: id,
    name,
    arguments: argumentsOf(input),
  };
}

function outputOf(row: ExecutionRow, status: ItemStatus): Item[] {
  const { id, output } = row;
  const calls = toolCallsOf(row).map((call, index) => presentFunctionCall(id, index, call));
  return output === '' && calls.length > 0 ? calls : [presentMessage(id, status, output ?? ''), ...calls];
}

const INCOMPLETE = { length: 'max_output_tokens', content_filter: 'content_filter' } as const;

function reasonOf(row: ExecutionRow) {
  const finish = finishReasonOf(row);
  return finish === 'length' || finish === 'content_filter' ? INCOMPLETE[finish] : undefined;
}

function presentUsage(row: ExecutionRow) {
  const { prompt_tokens: input, completion_tokens: output, ...usage } = usageOf(row);
  return {
    input_tokens: input,
    input_tokens_details: usage.prompt_tokens_details,
    output_tokens: output,
    output_tokens_details: usage.completion_tokens_details,
    total_tokens: usage.total_tokens,
  };
}

/**
 * Presents an execution in the format of the Responses API.
 * @param options `output` in the order in which it was streamed, by default as stored; `leftOut`, the ignored fields of the
 * request
 */
export function presentResponse(
  row: ExecutionRow,
  { output, leftOut }: { output?: Item[] | undefined; leftOut?: ErrorDetail[] | undefined } = {},
): z.input<typeof ModelResponse> {
  const { created, ...head } = headOf(row);
  const isCompleted = row.status === 'completed';
  const isOver = isCompleted || row.status === 'failed' || row.status === 'canceled';
  const reason = isCompleted ? reasonOf(row) : undefined;
  const status = !isOver ? 'in_progress' : !isCompleted ? 'failed' : reason === undefined ? 'completed' : 'incomplete';
  const { code, message } = failureOf(row, false).body.error;
  const { tool_choice: choice } = row;
  const parameters: ModelParameters = JSON.parse(row.parameters);
  const tools: Tool[] = row.tools === null ? [] : JSON.parse(row.tools);
  return {
    ...head,
    object: 'response',
    created_at: created,
    completed_at: isCompleted && row.finished_at !== null ? Math.floor(row.finished_at.getTime() / 1000) : null,
    status,
    background: false,
    error: status === 'failed' ? { code, message } : null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    output: output ?? (isCompleted ? outputOf(row, status) : []),
    previous_response_id: null,
    parallel_tool_calls: true,
    temperature: parameters.temperature ?? null,
    top_p: parameters.top_p ?? null,
    max_output_tokens: parameters.max_tokens ?? null,
    tools: tools.map(({ name, description, input_schema: schema, strict }) => ({
      type: 'function' as const,
      name,
      description: description ?? null,
      parameters: schema,
      strict: strict ?? null,
    })),
    tool_choice:
      typeof choice === 'object' && choice !== null ? { type: 'function', name: choice.name } : (choice ?? 'auto'),
    truncation: 'disabled',
    metadata: row.metadata,
    usage: isCompleted && !hasUnknownTokens(row) ? presentUsage(row) : null,
    ...warningsOf(row, leftOut),
  };
}
