import type { z } from 'zod';
import type { StoredCall } from '../../db/entities/execution.ts';
import { publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';
import { parseJson } from '../../evaluators/matching/json.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
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
  };
}

/** What the model wrote, parsed, where it was asked for JSON and has written some. */
function outputJsonOf({ output, parameters }: Pick<ExecutionRow, 'output' | 'parameters'>): JsonValue {
  if (output === null || (parameters.response_format?.type ?? 'text') === 'text') return null;
  const parsed = parseJson(output);
  return parsed.ok ? parsed.value : null;
}

/** What stands in place of an execution's content for a key that may not read it. */
export const UNREAD_EXECUTION = {
  parameters: {},
  variables: {},
  input: '',
  tools: null,
  tool_choice: null,
  includes: [],
  output: null,
  output_json: null,
  tool_calls: [],
  calls: [],
  error: null,
  metadata: {},
} as const satisfies Partial<z.input<typeof Execution>>;

/** An execution as callers see it. */
export function presentExecution(row: ExecutionRow): z.input<typeof Execution> {
  return {
    id: publicId('execution', row.id),
    status: row.status,
    prompt_name: row.prompt_name,
    prompt_version: row.prompt_version,
    model: row.model,
    requested_model: row.requested_model ?? row.model,
    provider: row.provider,
    parameters: row.parameters,
    variables: row.variables,
    input: row.input_messages ?? row.input ?? '',
    tools: row.tools,
    tool_choice: row.tool_choice,
    includes: row.includes ?? [],
    output: row.output,
    output_json: outputJsonOf(row),
    tool_calls: row.tool_calls ?? [],
    finish_reason: row.finish_reason,
    tokens: {
      input: row.tokens_input,
      output: row.tokens_output,
      cached_input: row.tokens_cached_input,
      reasoning: row.tokens_reasoning,
      total: row.tokens_input + row.tokens_output,
    },
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
    release:
      row.release_id === null || row.release_arm === null
        ? null
        : { id: publicId('release', row.release_id), arm: row.release_arm, keyed: row.release_keyed === true },
    metadata: row.metadata,
    workflow_id: executionWorkflowId(row.id),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
