import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import { executionWorkflowId } from '../../temporal/names.ts';
import type { Execution } from './schema.ts';

const between = (from: Date, to: Date | null) => (to === null ? null : to.getTime() - from.getTime());

/** An execution as callers see it. */
export function presentExecution(row: ExecutionRow): z.input<typeof Execution> {
  return {
    id: publicId('execution', row.id),
    status: row.status,
    prompt_name: row.prompt_name,
    prompt_version: row.prompt_version,
    model: row.model,
    provider: row.provider,
    parameters: row.parameters,
    variables: row.variables,
    input: row.input,
    output: row.output,
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
    error: row.error,
    metadata: row.metadata,
    workflow_id: executionWorkflowId(row.id),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
