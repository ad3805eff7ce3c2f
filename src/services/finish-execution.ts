import type { Query, Statement } from '../db/database.ts';
import type { ExecutionStatus } from '../db/entities/execution.ts';
import { CHANNELS } from '../db/listener.ts';
import { newId } from '../domain/ids.ts';

/** Marks an answered execution as completed, writes its event and tells who waits, all in one statement. */
const COMPLETE = {
  name: 'complete-execution',
  text: `with done as (
           update executions set status = 'completed', finished_at = now()
           where id = $1 and status = 'running' and answered_at is not null returning *
         ), event as (
           insert into events (workspace_id, id, type, data, created_at)
           select workspace_id, $2, 'execution.completed', jsonb_build_object(
             'execution_id', 'exec_' || id, 'prompt_name', prompt_name, 'prompt_version', prompt_version, 'model', model,
             'tokens', jsonb_build_object('input', tokens_input, 'output', tokens_output, 'cached_input', tokens_cached_input,
               'reasoning', tokens_reasoning, 'total', tokens_input + tokens_output),
             'cost', jsonb_build_object('amount', cost_amount::text, 'currency', 'USD', 'pricing', pricing),
             'latency', jsonb_build_object('queue_ms', round(extract(epoch from started_at - created_at) * 1000)::int,
               'model_ms', model_ms, 'total_ms', round(extract(epoch from finished_at - created_at) * 1000)::int)), now()
           from done
         ) select status, pg_notify('${CHANNELS.executionFinished}', id::text), pg_notify('${CHANNELS.eventWritten}', '') from done`,
};

const FAIL = {
  name: 'fail-execution',
  text: `with done as (
           update executions set status = case when $3::jsonb is null then 'canceled' else 'failed' end, error = $3,
             finished_at = now()
           where id = $1 and status in ('queued', 'running') returning *
         ), event as (
           insert into events (workspace_id, id, type, data, created_at)
           select workspace_id, $2, 'execution.failed', jsonb_build_object('execution_id', 'exec_' || id,
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
