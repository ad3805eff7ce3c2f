import type { z } from 'zod';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import { type StepRow, textsOf, type WholeStepRow } from '../../services/traces/steps.ts';
import type { ConversationRow, TraceRow } from '../../services/traces/traces.ts';
import { presentSums } from '../usage/presenter.ts';
import type { Conversation, Trace, TraceStep, WholeTraceStep } from './schema.ts';

const sumsOf = (row: ConversationRow | TraceRow) => {
  const { tokens, cost } = presentSums(row);
  return { tokens, cost: { ...cost, unpriced_calls: row.unpriced_calls } };
};

/** A trace as callers see it. */
export const presentTrace = (row: TraceRow): z.input<typeof Trace> => ({
  id: traceIdOf(row.id),
  name: row.name,
  status: row.status,
  settled: row.settle_at === null,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  duration_ms: row.ended_at && row.ended_at.getTime() - row.started_at.getTime(),
  steps: row.steps,
  calls: row.calls,
  errors: row.errors,
  ...sumsOf(row),
  models: row.models,
  tools: row.tools,
  agents: row.agents,
  prompts: row.prompts,
  conversation_id: row.conversation_id,
  user_id: row.user_id,
  service: row.service,
  environment: row.environment,
  tags: row.tags,
  metadata: row.metadata,
  input: row.input,
  output: row.output,
  incomplete: row.incomplete,
});

const timeOf = (us: number) => new Date(us / 1000).toISOString();

/** A step as callers see it, without its texts. */
export const presentStep = (row: StepRow): z.input<typeof TraceStep> => ({
  id: row.span_id,
  parent_id: row.parent_id,
  type: row.type,
  name: row.name,
  status: row.status,
  started_at: timeOf(row.started_us),
  duration_ms: row.ended_us && (row.ended_us - row.started_us) / 1000,
  tokens: row.tokens && { ...row.tokens },
  own_tokens: row.own_tokens ? { ...row.own_tokens } : row.tokens && { ...row.tokens },
  cost: { amount: row.cost_amount, currency: 'USD' },
  execution_id: row.execution_id && publicId('execution', row.execution_id),
  model: row.model,
  provider: row.provider,
  tool: row.tool,
  agent: row.agent,
  prompt: row.prompt_name === null ? null : { name: row.prompt_name, version: row.prompt_version },
  error: row.status === 'error' ? { type: row.error_type, message: row.error } : null,
  has_input: row.has_input,
  has_output: row.has_output,
  cut: row.cut,
});

/** A step with its texts. */
export function presentWholeStep(row: WholeStepRow): z.input<typeof WholeTraceStep> {
  const { content } = row;
  const { input, output, toolCalls } = textsOf(row);
  return {
    ...presentStep(row),
    input,
    output,
    tool_calls: toolCalls,
    parameters: content.parameters ?? {},
    conversation_id: row.conversation_id,
    user_id: row.user_id,
    service: row.service,
    environment: row.environment,
    tags: row.tags ?? [],
    metadata: row.metadata ?? {},
    attributes: content.attributes ?? {},
    events: (content.events ?? []).map(({ name, at, attributes }) => ({ name, at: timeOf(at), attributes })),
    links: (content.links ?? []).map(({ traceId, spanId, attributes }) => ({
      trace_id: traceId,
      span_id: spanId,
      attributes,
    })),
    resource: content.resource ?? {},
    scope: content.scope ?? null,
  };
}

/** A conversation as callers see it. */
export const presentConversation = (row: ConversationRow): z.input<typeof Conversation> => ({
  id: row.id,
  traces: row.traces,
  started_at: row.started_at.toISOString(),
  last_at: row.last_at.toISOString(),
  user_id: row.user_id,
  calls: row.calls,
  errors: row.errors,
  ...sumsOf(row),
});
