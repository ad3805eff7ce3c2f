import { type Expression, sql } from 'kysely';
import type { CallNotes, StoredCall } from '../../../db/entities/execution.ts';
import { asJson } from '../../../db/statement.ts';
import type { Spent } from '../../../domain/usage.ts';

/** Why an execution, or one of its calls, failed, as shown to its caller. */
export interface ExecutionError {
  code: string;
  message: string;
}

/** How a call ended, as stored. */
export type CallEnd = Required<Pick<StoredCall, 'duration_ms' | 'tokens' | 'cost' | 'error'>> & CallNotes;

const LOST: ExecutionError = {
  code: 'model_unavailable',
  message: 'The worker stopped during this call; whether the model responded is unknown.',
};
/** This worker was asked to stop and could not wait for the call any longer. */
export const GIVEN_UP: ExecutionError = {
  code: 'model_unavailable',
  message: 'The worker was stopped before this call ended: whether the model responded is unknown.',
};
const CANCELED: ExecutionError = { code: 'canceled', message: 'The execution was canceled during this call.' };

/** @param durationMs null if unknown, like `spent` */
export function callEnd(
  durationMs: number | null,
  spent: Spent | null,
  error: ExecutionError | null,
  { skipped, response, warnings }: { [Note in keyof CallNotes]?: CallNotes[Note] | undefined } = {},
): CallEnd {
  return {
    duration_ms: durationMs === null ? null : Math.round(durationMs),
    tokens: spent?.tokens ?? null,
    cost: spent?.cost.amount ?? null,
    error,
    ...(skipped !== undefined && { skipped }),
    ...(response !== undefined && { response }),
    ...(warnings !== undefined && { warnings }),
  };
}

/** `calls` with this error as the end of the last one, if it had none: only its worker could have known the outcome. */
function endedBy(error: ExecutionError) {
  const end = JSON.stringify(callEnd(null, null, error));
  return sql<StoredCall[]>`case when jsonb_exists(calls -> -1, 'duration_ms') is false
    then (calls - -1) || jsonb_build_array((calls -> -1) || ${sql.lit(end)}::jsonb) else calls end`;
}

/** The last call's worker has died. */
export const callLost = endedBy(LOST);
/** The last call is abandoned. */
export const callCanceled = endedBy(CANCELED);
/** The number of calls of an execution without an end whose worker is gone, including the last one. */
export const crashCountOf = sql<number>`(select count(*) from jsonb_array_elements(calls) as call
  where not jsonb_exists(call, 'duration_ms') or call -> 'error' ->> 'message' = ${sql.lit(LOST.message)})::int`;
/** A call starts. An earlier call without an end is lost. */
export const callBegun = sql<
  StoredCall[]
>`(${callLost}) || jsonb_build_array(jsonb_build_object('model', model, 'started_at', now()::timestamptz(3)))`;

/** The call of an attempt (from 1) has ended; replaces what was stored about its end. */
export const callEnded = (attempt: Expression<number>, end: Expression<CallEnd>) => {
  const index = sql`${attempt}::int - 1`;
  return sql<StoredCall[]>`jsonb_set(calls, array[(${index})::text],
    coalesce(calls -> (${index}), jsonb_build_object('model', model, 'started_at', started_at)) || ${asJson(end)}::jsonb)`;
};

/** The model that an attempt called, while that is known: the execution may have moved on to the next one. */
export const modelOfCall = (attempt: Expression<number>) =>
  sql<string>`coalesce(calls -> (${attempt}::int - 1) ->> 'model', model)`;
