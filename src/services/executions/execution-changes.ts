import type { Query, Statement, WorkspaceDatabase } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { ApiError } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates } from '../../domain/execution-states.ts';
import { newId, publicIdSql } from '../../domain/ids.ts';
import { MAX_CALL_ATTEMPTS } from '../../domain/limits.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { ModelAnswer } from '../../models/model.ts';
import { IS_WANTED } from '../acceptance/is-wanted.ts';
import { insertEvent } from '../events/write-event.ts';
import { EXECUTION_COLUMNS, type ExecutionRow, getExecution } from './executions.ts';

// Every statement that changes the state of an execution, or adds to what it has cost.

const RUN = executionStates.change({ to: 'running' });
const COMPLETE = executionStates.change({ to: 'completed' });
const FAIL = executionStates.change({ to: 'failed' });
const CANCEL = executionStates.change({ to: 'canceled' });

/** The end of statements whose `done` are executions that have ended. */
const TELL = `select status, pg_notify('${CHANNELS.executionFinished}', id::text), pg_notify('${CHANNELS.eventWritten}', '') from done`;

const msBetween = (from: string, to: string) => `round(extract(epoch from ${to} - ${from}) * 1000)::int`;

/** What the events of `done` tell of an execution. */
const EXECUTION = {
  execution_id: publicIdSql('execution', 'id'),
  prompt_name: 'prompt_name',
  prompt_version: 'prompt_version',
  model: 'model',
};
const completedEvent = (eventId: string) =>
  insertEvent('execution.completed', {
    from: 'done',
    id: eventId,
    data: {
      ...EXECUTION,
      tokens: {
        input: 'tokens_input',
        output: 'tokens_output',
        cached_input: 'tokens_cached_input',
        reasoning: 'tokens_reasoning',
        total: 'tokens_input + tokens_output',
      },
      cost: { amount: 'cost_amount::text', currency: "'USD'", pricing: 'pricing' },
      latency: {
        queue_ms: msBetween('created_at', 'started_at'),
        model_ms: 'model_ms',
        total_ms: msBetween('created_at', 'finished_at'),
      },
    },
  });
const failedEvent = (eventId: string) =>
  insertEvent('execution.failed', { from: 'done', id: eventId, data: { ...EXECUTION, error: 'error' } });

/** What an attempt (`$2`) was billed (`$3` to `$8`) is added once, however often the statement is run. */
const PAY = `tokens_input = tokens_input + $3, tokens_output = tokens_output + $4,
             tokens_cached_input = tokens_cached_input + $5, tokens_reasoning = tokens_reasoning + $6,
             cost_amount = case when paid_attempts = '{}' then $7::numeric else cost_amount + $7::numeric end,
             pricing = coalesce(pricing, $8), paid_attempts = paid_attempts || $2::int`;
const IS_UNPAID = 'not ($2::int = any(paid_attempts))';
const KEEP_ANSWER = 'output = $9, finish_reason = $10, model_ms = $11, answered_at = now()';

const STATEMENTS = {
  claim: {
    name: 'claim-execution',
    text: `update executions set ${RUN.set}, attempts = attempts + 1, started_at = coalesce(started_at, now())
           where id = $1 and ${RUN.where} and answered_at is null and attempts < ${MAX_CALL_ATTEMPTS}
             and (status = 'running' or ${IS_WANTED})
           returning model, input, parameters, attempts as attempt`,
  },
  /** Of one that is running, which nearly all are. */
  answer: {
    name: 'answer-execution',
    text: `with done as (
             update executions set ${COMPLETE.set}, finished_at = now(), ${KEEP_ANSWER}, ${PAY}
             where id = $1 and ${COMPLETE.where} and answered_at is null and ${IS_UNPAID} returning *
           ), event as (${completedEvent('$12')}) ${TELL}`,
  },
  /** Of one that has ended meanwhile: what was paid for is kept. */
  answerLate: {
    text: `update executions set ${KEEP_ANSWER}, ${PAY}
           where id = $1 and answered_at is null and ${IS_UNPAID} returning status`,
  },
  pay: {
    text: `update executions set ${PAY} where id = $1 and ${IS_UNPAID} returning status`,
  },
  complete: {
    name: 'complete-execution',
    text: `with done as (
             update executions set ${COMPLETE.set}, finished_at = now()
             where id = $1 and ${COMPLETE.where} and answered_at is not null returning *
           ), event as (${completedEvent('$2')}) ${TELL}`,
  },
  fail: {
    name: 'fail-execution',
    text: `with done as (
             update executions set ${FAIL.set}, error = $3, finished_at = now() where id = $1 and ${FAIL.where} returning *
           ), event as (${failedEvent('$2')}) ${TELL}`,
  },
  cancel: {
    text: `with done as (
             update executions set ${CANCEL.set}, finished_at = now() where id = $1 and ${CANCEL.where} returning *
           ) ${TELL}`,
  },
  status: { text: 'select status from executions where id = $1' },
  unclaimed: {
    text: `select status, attempts >= ${MAX_CALL_ATTEMPTS} as exhausted, answered_at is not null as answered
           from executions where id = $1`,
  },
} satisfies Record<string, Statement>;

/** A call to make, and which attempt at its execution it is. */
export interface ClaimedCall {
  model: string;
  input: string;
  parameters: ModelParameters;
  /** From 1 to `MAX_CALL_ATTEMPTS`. */
  attempt: number;
}

/**
 * Takes an execution to call its model. This is the one place that limits how often that happens.
 * @returns `nothing` where it has its answer, has ended or was withdrawn; `exhausted` where it was tried often enough
 */
export async function claimExecution(query: Query, id: string): Promise<ClaimedCall | 'nothing' | 'exhausted'> {
  for (;;) {
    const [claimed] = await query<ClaimedCall & Record<string, unknown>>(STATEMENTS.claim, [id]);
    if (claimed !== undefined) return claimed;
    if (await withdrawUnaccepted(query, id)) return 'nothing';
    const [row] = await query<{ status: ExecutionStatus; exhausted: boolean; answered: boolean }>(
      STATEMENTS.unclaimed,
      [id],
    );
    if (row === undefined || row.answered || executionStates.final.includes(row.status)) return 'nothing';
    if (row.exhausted) return 'exhausted';
    // A caller was told of it just now.
  }
}

async function finish(query: Query, statement: Statement, values: [string, ...unknown[]]) {
  const [finished] = await query<{ status: ExecutionStatus }>(statement, values);
  const [row] = finished ? [finished] : await query<{ status: ExecutionStatus }>(STATEMENTS.status, [values[0]]);
  return row?.status;
}

const paymentOf = (id: string, attempt: number, { tokens, cost }: { tokens: TokenUsage; cost: Cost }) => {
  const used = [tokens.input, tokens.output, tokens.cached_input, tokens.reasoning, cost.amount, cost.pricing];
  return [id, attempt, ...used] as [string, ...unknown[]];
};

/**
 * Stores an answer and, where the execution is still running, completes it. The first answer stays; what a later one cost is
 * added. Safe to repeat.
 * @returns its status now, undefined where there is no such execution
 */
export async function answerExecution(
  query: Query,
  id: string,
  attempt: number,
  answer: ModelAnswer,
): Promise<ExecutionStatus | undefined> {
  const payment = paymentOf(id, attempt, answer);
  const values = [...payment, answer.output, answer.finishReason, Math.round(answer.modelMs)];
  const [completed] = await query<{ status: ExecutionStatus }>(STATEMENTS.answer, [...values, newId()]);
  if (completed !== undefined) return completed.status;
  const [ended] = await query<{ status: ExecutionStatus }>(STATEMENTS.answerLate, values);
  return ended === undefined ? finish(query, STATEMENTS.pay, payment) : ended.status;
}

/** Adds what a call was billed whose answer is not kept. Safe to repeat. */
export async function payForExecution(
  query: Query,
  id: string,
  attempt: number,
  spent: { tokens: TokenUsage; cost: Cost },
): Promise<void> {
  await query(STATEMENTS.pay, paymentOf(id, attempt, spent));
}

/**
 * Completes an execution that has its answer; one that has ended stays as it is.
 * @returns its status now, undefined where there is no such execution
 */
export function completeExecution(query: Query, id: string): Promise<ExecutionStatus | undefined> {
  return finish(query, STATEMENTS.complete, [id, newId()]);
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
  return error === null ? finish(query, STATEMENTS.cancel, [id]) : finish(query, STATEMENTS.fail, [id, newId(), error]);
}

/**
 * Marks an execution as canceled; what a model still answers is kept, but changes the status no more.
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function cancelExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const [row] = await db.query<ExecutionRow>(
    {
      // Whoever waits for the execution hears of it at once.
      text: `with canceled as (
               update executions set ${CANCEL.set}, finished_at = now()
               where workspace_id = $1 and id = $2 and ${CANCEL.where} returning ${EXECUTION_COLUMNS}
             ) select *, pg_notify('${CHANNELS.executionFinished}', id::text) as notified from canceled`,
    },
    [id],
  );
  if (row) return row;
  const { status } = await getExecution(db, id);
  throw new ApiError('invalid_state', `This execution has ended as ${status}: there is nothing to cancel.`);
}

/** With executions that are withdrawn (`gone`), their idempotency keys. */
const DELETE_KEYS = `delete from idempotency_keys k using gone
             where k.workspace_id = gone.workspace_id and k.resource_id = gone.id::text`;

/**
 * Withdraws an execution that no caller was told of in time, with its idempotency key.
 * @returns whether it was withdrawn
 */
export async function withdrawUnaccepted(query: Query, id: string): Promise<boolean> {
  const gone = await query(
    {
      text: `with gone as (delete from executions where id = $1 and status = 'queued' and not ${IS_WANTED}
                           returning id, workspace_id), keys as (${DELETE_KEYS})
             select id from gone`,
    },
    [id],
  );
  return gone.length > 0;
}

/**
 * The execution, for a caller who is about to be told of it. One that is still queued is marked as accepted, so that it is run
 * whatever happens from now on.
 * @throws ApiError `not_found`
 */
export async function acceptExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const row = await getExecution(db, id);
  if (row.status !== 'queued') return row;
  const [accepted] = await db.query<ExecutionRow>(
    {
      text: `update executions set accepted_at = coalesce(accepted_at, now())
             where workspace_id = $1 and id = $2 and status = 'queued' returning ${EXECUTION_COLUMNS}`,
    },
    [id],
  );
  return accepted ?? getExecution(db, id);
}

/**
 * Withdraws an execution whose caller is told that it failed, with its idempotency key: one that is queued is deleted.
 * @param force also one that a caller may have been told of; one that is running is canceled
 * @returns false where it runs, or will: the start did reach Temporal, or another request waits for it
 */
export async function withdrawExecution(db: WorkspaceDatabase, id: string, force: boolean): Promise<boolean> {
  const [row] = await db.query<{ runs: boolean }>(
    {
      text: `with deleted as (
               delete from executions where workspace_id = $1 and id = $2 and status = 'queued' and (accepted_at is null or $3)
               returning id, workspace_id
             ), canceled as (
               update executions set ${CANCEL.set}, finished_at = now()
               where workspace_id = $1 and id = $2 and status = 'running' and ${CANCEL.where} and $3 returning id, workspace_id
             ), gone as (select * from deleted union all select * from canceled), keys as (${DELETE_KEYS})
             select not exists (select from gone) and exists (select from executions where workspace_id = $1 and id = $2) as runs,
               (select pg_notify('${CHANNELS.executionFinished}', id::text) from canceled) as notified`,
    },
    [id, force],
  );
  return row?.runs !== true;
}
