import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { MAX_CALL_ATTEMPTS } from '../../../domain/limits.ts';
import type { ModelErrorCode } from '../../../models/model-error.ts';
import { type CallEnd, callEnded, callLost } from './calls.ts';

/** Errors of a model that another model may not have. Excluded: refusals of the content of the prompt, and calls that no model would accept. */
const FALLS_BACK: Record<ModelErrorCode, boolean> = {
  model_unavailable: true,
  model_rate_limited: true,
  model_timeout: true,
  model_authentication: true,
  // It was withdrawn, or this key has no access to it.
  model_not_found: true,
  model_invalid_request: false,
  content_filtered: false,
};

/** Whether the next model is called after one has failed permanently with this code. */
export function fallsBackOn(code: string): boolean {
  return Object.hasOwn(FALLS_BACK, code) && FALLS_BACK[code as ModelErrorCode];
}

/** The next model replaces the failed one: all progress is stored in the row, none in a worker. */
const toNextModel = {
  model: sql<string>`fallback_models[1]`,
  provider: sql<string>`split_part(fallback_models[1], '/', 1)`,
  fallback_models: sql<string[]>`fallback_models[2:]`,
  model_attempts: 0,
};
const isRunning = inStates(executionStates, ['running']);
const anyLeft = sql<boolean>`cardinality(fallback_models) > 0`;

/** Safe to repeat: afterwards, `model_attempts` is 0 until the next claim. */
const FALL_BACK = prepared<{ id: string; attempt: number; end: CallEnd }>()((db, { id, attempt, end }) =>
  db
    .updateTable('executions')
    .set({ ...toNextModel, calls: callEnded(attempt, end) })
    .where('id', '=', id)
    .where(isRunning)
    .where('answered_at', 'is', null)
    .where('attempts', '=', attempt)
    .where('model_attempts', '>', 0)
    .where(anyLeft)
    .returning('model'),
);
const LEAVE_EXHAUSTED = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('executions')
    .set({ ...toNextModel, calls: callLost })
    .where('id', '=', id)
    .where(isRunning)
    .where('answered_at', 'is', null)
    .where('model_attempts', '>=', MAX_CALL_ATTEMPTS)
    .where(anyLeft)
    .returning('model'),
);

/**
 * Ends the call of an attempt that has failed permanently, and lets the next model be called. Does nothing if the execution has
 * ended or another attempt has started.
 */
export async function fallBack(query: Query, id: string, attempt: number, end: CallEnd): Promise<void> {
  await query(FALL_BACK, { id, attempt, end });
}

/**
 * Like `fallBack`, if calls were lost with their workers as often as a model may be called.
 * @returns the next model; undefined if there is none
 */
export async function leaveExhaustedModel(query: Query, id: string): Promise<string | undefined> {
  const [moved] = await query(LEAVE_EXHAUSTED, { id });
  return moved?.model;
}
