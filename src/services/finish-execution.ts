import type { Query, Statement } from '../db/database.ts';
import { CHANNELS } from '../db/listener.ts';
import type { ExecutionStatus } from '../domain/execution-states.ts';
import { newId } from '../domain/ids.ts';
import type { ModelAnswer } from '../models/model.ts';

/** The end of a statement whose `done` are executions: the event of those that completed, and the word to who waits. */
const completedEvent = (eventId: string) => `), event as (
           insert into events (workspace_id, id, type, data, created_at)
           select workspace_id, ${eventId}, 'execution.completed', json_build_object(
             'execution_id', 'exec_' || id, 'prompt_name', prompt_name, 'prompt_version', prompt_version, 'model', model,
             'tokens', json_build_object('input', tokens_input, 'output', tokens_output, 'cached_input', tokens_cached_input,
               'reasoning', tokens_reasoning, 'total', tokens_input + tokens_output),
             'cost', json_build_object('amount', cost_amount::text, 'currency', 'USD', 'pricing', pricing),
             'latency', json_build_object('queue_ms', round(extract(epoch from started_at - created_at) * 1000)::int,
               'model_ms', model_ms, 'total_ms', round(extract(epoch from finished_at - created_at) * 1000)::int)), now()
           from done where status = 'completed'
         ) select status, pg_notify('${CHANNELS.executionFinished}', id::text), pg_notify('${CHANNELS.eventWritten}', '') from done`;

/** Marks an answered execution as completed, writes its event and tells who waits, all in one statement. */
const COMPLETE = {
  name: 'complete-execution',
  text: `with done as (
           update executions set status = 'completed', finished_at = now()
           where id = $1 and status = 'running' and answered_at is not null returning *
         ${completedEvent('$2')}`,
};

/**
 * Stores an answer, whatever the status: what was paid for is kept, and the first answer stays. An execution that is still
 * running is completed by it, in the same statement.
 */
const ANSWER = {
  name: 'answer-execution',
  text: `with done as (
           update executions set output = $3, finish_reason = $4, tokens_input = $5, tokens_output = $6,
             tokens_cached_input = $7, tokens_reasoning = $8, cost_amount = $9, pricing = $10, model_ms = $11, answered_at = now(),
             status = case when status = 'running' then 'completed' else status end,
             finished_at = case when status = 'running' then now() else finished_at end
           where id = $1 and answered_at is null returning *
         ${completedEvent('$2')}`,
};

const FAIL = {
  name: 'fail-execution',
  text: `with done as (
           update executions set status = case when $3::jsonb is null then 'canceled' else 'failed' end, error = $3,
             finished_at = now()
           where id = $1 and status in ('queued', 'running') returning *
         ), event as (
           insert into events (workspace_id, id, type, data, created_at)
           select workspace_id, $2, 'execution.failed', json_build_object('execution_id', 'exec_' || id,
             'prompt_name', prompt_name, 'prompt_version', prompt_version, 'model', model, 'error', error), now()
           from done where status = 'failed'
         ) select status, pg_notify('${CHANNELS.executionFinished}', id::text), pg_notify('${CHANNELS.eventWritten}', '') from done`,
};

const STATUS = { text: 'select status from executions where id = $1' };

async function finish(
  query: Query,
  statement: Statement,
  [id, ...values]: [string, ...unknown[]],
): Promise<ExecutionStatus | undefined> {
  const [finished] = await query<{ status: ExecutionStatus }>(statement, [id, ...values]);
  const [row] = finished ? [finished] : await query<{ status: ExecutionStatus }>(STATUS, [id]);
  return row?.status;
}

/**
 * Stores an answer and, where the execution is still running, completes it.
 * @returns its status now, undefined where there is no such execution
 */
export function answerExecution(
  query: Query,
  id: string,
  { output, finishReason, tokens, cost, modelMs }: ModelAnswer,
): Promise<ExecutionStatus | undefined> {
  const used = [tokens.input, tokens.output, tokens.cached_input, tokens.reasoning, cost.amount, cost.pricing];
  return finish(query, ANSWER, [id, newId(), output, finishReason, ...used, Math.round(modelMs)]);
}

/**
 * Completes an execution that has its answer; one that has ended stays as it is.
 * @returns its status now, undefined where there is no such execution
 */
export function completeExecution(query: Query, id: string): Promise<ExecutionStatus | undefined> {
  return finish(query, COMPLETE, [id, newId()]);
}

/**
 * Ends an execution with an error, or (null) as canceled; one that has ended stays as it is.
 * @returns its status now, undefined where there is no such execution
 */
export function failExecution(
  query: Query,
  id: string,
  error: { code: string; message: string } | null,
): Promise<ExecutionStatus | undefined> {
  return finish(query, FAIL, [id, newId(), error]);
}
