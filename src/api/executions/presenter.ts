import type { z } from 'zod';
import type { StoredCall } from '../../db/entities/execution.ts';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { countJsonValues, MAX_JSON_VALUES } from '../../domain/text/json-count.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { JsonText, type WithTexts } from '../../domain/text/json-text.ts';
import { parseJson } from '../../evaluators/matching/json.ts';
import { type ExecutionRow, hasUnknownTokens } from '../../services/executions/executions.ts';
import { executionWorkflowId } from '../../temporal/names.ts';
import type { Execution } from './schema.ts';

const between = (from: Date, to: Date | null) => (to === null ? null : to.getTime() - from.getTime());

function presentCall(call: StoredCall) {
  return {
    model: call.model,
    started_at: new Date(call.started_at).toISOString(),
    duration_ms: call.duration_ms ?? null,
    tokens: call.tokens ?? null,
    cost: { amount: call.cost ?? null, currency: 'USD' as const },
    error: call.error ?? null,
    ...(call.skipped !== undefined && { skipped: call.skipped }),
    ...(call.response !== undefined && { response: call.response }),
    ...(call.warnings && { warnings: call.warnings }),
  };
}

/** Parses JSON; null if it is invalid or has more values than callers can send: those are not parsed just for display. */
function parsedOf(text: string): JsonValue {
  // A shorter text cannot have that many values.
  if (text.length > MAX_JSON_VALUES && countJsonValues(Buffer.from(text), MAX_JSON_VALUES) > MAX_JSON_VALUES)
    return null;
  const parsed = parseJson(text, parseKeepingDigits);
  return parsed.ok ? parsed.value : null;
}

/** The model's output parsed as JSON, if JSON was requested and the output is valid. */
function outputJsonOf({ output, parameters }: Pick<ExecutionRow, 'output' | 'parameters'>): JsonValue {
  // Most executions request no format, and checking that needs no parsing.
  if (output === null || !parameters.includes('"response_format"') || parsedOf(parameters) === null) return null;
  const { response_format: format }: ModelParameters = JSON.parse(parameters);
  return (format?.type ?? 'text') === 'text' ? null : parsedOf(output);
}

/** Fields passed through as stored. */
type Texts = 'parameters' | 'variables' | 'input' | 'tools' | 'tool_calls';

/** Presents an execution. */
export function presentExecution(row: ExecutionRow): WithTexts<z.input<typeof Execution>, Texts> {
  return {
    id: publicId('execution', row.id),
    status: row.status,
    prompt_name: row.prompt_name,
    prompt_version: row.prompt_version,
    model: row.model,
    requested_model: row.requested_model ?? row.model,
    provider: row.provider,
    parameters: new JsonText(row.parameters),
    variables: new JsonText(row.variables),
    input: row.input_messages === null ? (row.input ?? '') : new JsonText(row.input_messages),
    tools: row.tools === null ? null : new JsonText(row.tools),
    tool_choice: row.tool_choice,
    includes: row.includes ?? [],
    output: row.output,
    output_json: outputJsonOf(row),
    tool_calls: row.tool_calls === null ? [] : new JsonText(row.tool_calls),
    finish_reason: row.finish_reason,
    tokens: {
      input: row.tokens_input,
      output: row.tokens_output,
      cached_input: row.tokens_cached_input,
      reasoning: row.tokens_reasoning,
      total: row.tokens_input + row.tokens_output,
    },
    ...(hasUnknownTokens(row) && { tokens_unknown: true }),
    cost: { amount: row.cost_amount, currency: 'USD', pricing: row.pricing === null ? null : { ...row.pricing } },
    latency: {
      queue_ms: between(row.created_at, row.started_at),
      model_ms: row.model_ms,
      total_ms: between(row.created_at, row.finished_at),
    },
    attempts: row.attempts,
    calls: row.calls.map(presentCall),
    reused_from: row.reused_from === null ? null : publicId('execution', row.reused_from),
    error: row.error,
    label: row.label,
    release:
      row.release_id === null || row.release_arm === null
        ? null
        : { id: publicId('release', row.release_id), arm: row.release_arm, keyed: row.release_keyed === true },
    recorded: row.recorded,
    trace_id: row.trace_id && traceIdOf(row.trace_id),
    span_id: row.span_id,
    parent_id: row.parent_id,
    conversation_id: row.conversation_id,
    kind: row.trace_id === null ? null : (row.step_type ?? 'model'),
    metadata: row.metadata,
    workflow_id: row.recorded ? null : executionWorkflowId(row.id),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
