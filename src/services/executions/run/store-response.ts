import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson, type Parameters, prepared } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import { type ExecutionStatus, executionStates } from '../../../domain/execution-states.ts';
import type { ToolCall } from '../../../domain/prompts/messages.ts';
import { NO_TOKENS, type Pricing, type Spent } from '../../../domain/usage.ts';
import type { ModelResponse } from '../../../models/model.ts';
import { type NewEvent, newEvent } from '../../events/write-event.ts';
import { COMPLETED_DATA, END_AND_NOTIFICATIONS, endEvent } from '../execution-events.ts';
import type { OnExecutionEnd } from '../execution-metrics.ts';
import { executionStatus } from '../executions.ts';
import { type CallEnd, callEnd, callEnded, modelOfCall } from './calls.ts';

const COMPLETE = changeState(executionStates, { to: 'completed', from: ['running'] });

/** The billed usage of an attempt. */
interface Payment {
  id: string;
  attempt: number;
  input: number;
  output: number;
  cachedInput: number;
  reasoning: number;
  amount: string | null;
  pricing: Pricing | null;
  end: CallEnd;
}

interface StoredResponse extends Payment {
  text: string;
  toolCalls: ToolCall[] | null;
  finishReason: string;
  modelMs: number;
}

/** Adds the billed usage of an attempt only once, however often the statement runs: use with {@link isUnpaid}. */
const pay = (eb: ExpressionBuilder<Tables, 'executions'>, paid: Parameters<Payment>) => ({
  tokens_input: eb('tokens_input', '+', paid.input),
  tokens_output: eb('tokens_output', '+', paid.output),
  tokens_cached_input: eb('tokens_cached_input', '+', paid.cachedInput),
  tokens_reasoning: eb('tokens_reasoning', '+', paid.reasoning),
  cost_amount: sql<string | null>`case when paid_attempts = '{}' then ${paid.amount}::numeric
                                    else cost_amount + ${paid.amount}::numeric end`,
  pricing: sql<Pricing | null>`coalesce(pricing, ${asJson(paid.pricing)}::jsonb)`,
  paid_attempts: sql<number[]>`paid_attempts || ${paid.attempt}::int`,
  calls: callEnded(paid.attempt, paid.end),
});
const isUnpaid = ({ attempt }: { attempt: Expression<number> }) =>
  sql<SqlBool>`not (${attempt}::int = any(paid_attempts))`;

const keep = (response: Parameters<StoredResponse>) => ({
  // A worker presumed dead may have called another model than the current one.
  model: modelOfCall(response.attempt),
  provider: sql<string>`split_part(${modelOfCall(response.attempt)}, '/', 1)`,
  output: response.text,
  tool_calls: asJson(response.toolCalls),
  finish_reason: response.finishReason,
  // The pricing of the model that responded; another may have been paid before.
  pricing: asJson(response.pricing),
  model_ms: response.modelMs,
  answered_at: now,
});

/** For an execution that is running, as nearly all are. */
const STORE = prepared<StoredResponse & NewEvent>()((db, response) =>
  db
    .with('done', (cte) =>
      cte
        .updateTable('executions')
        .set((eb) => ({ ...COMPLETE.set, finished_at: now, ...pay(eb, response), ...keep(response) }))
        .where('id', '=', response.id)
        .where(COMPLETE.where)
        .where('answered_at', 'is', null)
        .where(isUnpaid(response))
        .returningAll(),
    )
    .with('event', endEvent('execution.completed', response, COMPLETED_DATA))
    .selectFrom('done')
    .select(END_AND_NOTIFICATIONS),
);
/** For an execution that has ended in the meantime: what was paid for is kept. */
const STORE_LATE = prepared<StoredResponse>()((db, response) =>
  db
    .updateTable('executions')
    .set((eb) => ({ ...pay(eb, response), ...keep(response) }))
    .where('id', '=', response.id)
    .where('answered_at', 'is', null)
    .where(isUnpaid(response))
    .returning('status'),
);
const PAY = prepared<Payment>()((db, paid) =>
  db
    .updateTable('executions')
    .set((eb) => pay(eb, paid))
    .where('id', '=', paid.id)
    .where(isUnpaid(paid))
    .returning('status'),
);
const END_CALL = prepared<{ id: string; attempt: number; end: CallEnd }>()((db, { id, attempt, end }) =>
  db
    .updateTable('executions')
    .set({ calls: callEnded(attempt, end) })
    .where('id', '=', id)
    .where(isUnpaid({ attempt })),
);
const COMPLETE_STORED = prepared<{ id: string } & NewEvent>()((db, { id, eventId, traceparent }) =>
  db
    .with('done', (cte) =>
      cte
        .updateTable('executions')
        .set({ ...COMPLETE.set, finished_at: now })
        .where('id', '=', id)
        .where(COMPLETE.where)
        .where('answered_at', 'is not', null)
        .returningAll(),
    )
    .with('event', endEvent('execution.completed', { eventId, traceparent }, COMPLETED_DATA))
    .selectFrom('done')
    .select(END_AND_NOTIFICATIONS),
);

function paymentOf(id: string, attempt: number, { tokens, cost }: Spent, end: CallEnd): Payment {
  const { input, output, cached_input, reasoning } = tokens ?? NO_TOKENS;
  return {
    id,
    attempt,
    input,
    output,
    cachedInput: cached_input,
    reasoning,
    amount: cost.amount,
    pricing: cost.pricing,
    end,
  };
}

/**
 * Stores a response and completes the execution if it is still running. The first response is kept; the cost of a later one is
 * added. Safe to repeat.
 * @param onEnd called if this call ended it
 * @returns its current status, undefined if there is no such execution
 */
export async function storeResponse(
  query: Query,
  id: string,
  attempt: number,
  { output: text, toolCalls, finishReason, modelMs, skipped, warnings, ...spent }: ModelResponse,
  onEnd?: OnExecutionEnd,
): Promise<ExecutionStatus | undefined> {
  const payment = paymentOf(id, attempt, spent, callEnd(modelMs, spent, null, { skipped, warnings }));
  const response = {
    ...payment,
    text,
    toolCalls: toolCalls.length === 0 ? null : toolCalls,
    finishReason,
    modelMs: Math.round(modelMs),
  };
  const [completed] = await query(STORE, { ...response, ...newEvent() });
  if (completed !== undefined) {
    onEnd?.(completed);
    return completed.status;
  }
  const [late] = await query(STORE_LATE, response);
  if (late !== undefined) return late.status;
  const [paid] = await query(PAY, payment);
  return paid?.status ?? executionStatus(query, id);
}

/**
 * Stores how a call ended whose response is not kept, and its billed usage if known. Safe to repeat.
 * @param end see `callEnd`
 */
export async function endCall(
  query: Query,
  id: string,
  attempt: number,
  spent: Spent | undefined,
  end: CallEnd,
): Promise<void> {
  if (spent === undefined) await query(END_CALL, { id, attempt, end });
  else await query(PAY, paymentOf(id, attempt, spent, end));
}

/**
 * Completes an execution that has its response. An ended execution is left unchanged.
 * @param onEnd called if this call ended it
 * @returns its current status, undefined if there is no such execution
 */
export async function completeExecution(
  query: Query,
  id: string,
  onEnd?: OnExecutionEnd,
): Promise<ExecutionStatus | undefined> {
  const [completed] = await query(COMPLETE_STORED, { id, ...newEvent() });
  if (completed !== undefined) onEnd?.(completed);
  return completed?.status ?? executionStatus(query, id);
}
