import type { z } from 'zod';
import type { ErrorDetail } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { FinishReason as ModelFinishReason } from '../../models/model.ts';
import { type ExecutionRow, hasUnknownTokens, toolCallsOf } from '../../services/executions/executions.ts';
import type { ChatCompletion, FinishReason } from './schema.ts';

const FINISH_REASONS: Record<ModelFinishReason, z.input<typeof FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  other: 'stop',
};

function isKnown(reason: string | null): reason is ModelFinishReason {
  return reason !== null && Object.hasOwn(FINISH_REASONS, reason);
}

export function finishReasonOf({ finish_reason: reason }: ExecutionRow): z.input<typeof FinishReason> {
  return isKnown(reason) ? FINISH_REASONS[reason] : 'stop';
}

export function usageOf(row: ExecutionRow): z.input<typeof ChatCompletion>['usage'] {
  return {
    prompt_tokens: row.tokens_input,
    completion_tokens: row.tokens_output,
    total_tokens: row.tokens_input + row.tokens_output,
    prompt_tokens_details: { cached_tokens: row.tokens_cached_input },
    completion_tokens_details: { reasoning_tokens: row.tokens_reasoning },
    ...(hasUnknownTokens(row) && { tokens_unknown: true }),
  };
}

/** The fields that a completion shares with its chunks. */
export function headOf(row: Pick<ExecutionRow, 'id' | 'created_at' | 'prompt_name' | 'prompt_version'>) {
  return {
    id: publicId('execution', row.id),
    created: Math.floor(row.created_at.getTime() / 1000),
    // Like a model alias that resolves to its newest snapshot.
    model: `${row.prompt_name}@${row.prompt_version}`,
  };
}

/** Fields that the responding call changed or dropped. @param others further warnings about the request */
export function warningsOf(
  { calls }: Pick<ExecutionRow, 'calls'>,
  others: ErrorDetail[] = [],
): { warnings?: ErrorDetail[] } {
  const warnings = [...others, ...(calls.at(-1)?.warnings ?? [])];
  return warnings.length === 0 ? {} : { warnings };
}

/** Serializes the input as JSON; a string is the model's own text. */
export const argumentsOf = (input: JsonValue): string => (typeof input === 'string' ? input : JSON.stringify(input));

export function presentToolCall({ id, name, input }: ToolCall) {
  return { id, type: 'function' as const, function: { name, arguments: argumentsOf(input) } };
}

/** Presents a completed execution in OpenAI's format. */
export function presentCompletion(row: ExecutionRow): z.input<typeof ChatCompletion> {
  const toolCalls = toolCallsOf(row).map(presentToolCall);
  const content = row.output === '' && toolCalls.length > 0 ? null : row.output;
  return {
    ...headOf(row),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          refusal: null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        logprobs: null,
        finish_reason: finishReasonOf(row),
      },
    ],
    usage: usageOf(row),
    ...warningsOf(row),
  };
}
