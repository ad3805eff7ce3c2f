import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { CHANNELS } from '../../../db/listener.ts';
import { notify, now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { prepared, type RowOf } from '../../../db/statement.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { CRASHES_BEFORE_ISOLATION, MAX_CALL_ATTEMPTS } from '../../../domain/limits.ts';
import type { ModelInput } from '../../../domain/prompts/messages.ts';
import { mayBegin } from '../../acceptance/may-begin.ts';
import { withdrawUnaccepted } from '../creation/withdraw-execution.ts';
import { isFinished } from '../executions.ts';
import { callBegun, crashCountOf } from './calls.ts';
import { leaveExhaustedModel } from './fall-back.ts';

const RUN = changeState(executionStates, { to: 'running' });

const CLAIM = prepared<{ id: string; isNotified: boolean; crashes: number }>()((db, { id, isNotified, crashes }) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      ...RUN.set,
      attempts: eb('attempts', '+', 1),
      model_attempts: eb('model_attempts', '+', 1),
      calls: callBegun,
      started_at: eb.fn.coalesce('started_at', now),
    }))
    .where('id', '=', id)
    .where(RUN.where)
    .where('answered_at', 'is', null)
    .where('model_attempts', '<', MAX_CALL_ATTEMPTS)
    // Most have no calls yet.
    .where((eb) => eb.or([sql<boolean>`calls = '[]'`, sql<boolean>`${crashCountOf} <= ${crashes}`]))
    .where((eb) => eb.or([inStates(executionStates, ['running']), mayBegin]))
    .returning(['model', 'input', 'input_messages', 'tools', 'tool_choice as toolChoice', 'parameters', 'streamed'])
    .returning(['attempts as attempt', 'model_attempts as modelAttempt'])
    .returning(['prompt_name as promptName', 'prompt_version as promptVersion'])
    .returning([
      sql<boolean>`model_attempts >= ${MAX_CALL_ATTEMPTS}`.as('isLastAttempt'),
      sql<string | null>`fallback_models[1]`.as('fallback'),
    ])
    .returning(
      sql`case when ${isNotified} then ${notify(CHANNELS.executionBegun, sql.ref<string>('id'))} end`.as('told'),
    ),
);
const UNCLAIMED = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('executions')
    .select(['status', 'model_attempts', 'answered_at', crashCountOf.as('crashes')])
    .where('id', '=', id),
);

/** A call to make. */
export interface ClaimedCall extends Omit<RowOf<typeof CLAIM>, 'input' | 'input_messages' | 'told'> {
  input: ModelInput;
  /** The number of the attempt at the execution, from 1. */
  attempt: number;
  /** The number of the attempt at this model. */
  modelAttempt: number;
  /** Whether this is the last call of this model. */
  isLastAttempt: boolean;
  /** The model to call after this one has failed permanently; null if none is left. */
  fallback: string | null;
  /** Whether the model's output is streamed as it arrives. */
  streamed: boolean;
}

/**
 * What to do: make a call, switch to the next model (and claim again), or nothing. `suspect`: isolated, to be claimed again when
 * it may run; `poison`: another process crashed even in isolation.
 */
export type Claim = ClaimedCall | { fallback: string } | 'suspect' | 'poison' | 'nothing' | 'exhausted';

export interface ClaimOptions {
  /** Whether to notify the process that started it that its call starts; not needed if that is this process. Default: true. */
  isNotified?: boolean;
  /** It may run although it is isolated. Default: false. */
  mayBeSuspect?: boolean;
}

/**
 * Claims an execution to call its model. This is the only place that limits how often that happens.
 * @returns `nothing` if it has its response, has ended or was withdrawn; `exhausted` if its last model was tried
 * `MAX_CALL_ATTEMPTS` times; the next model if another one was
 */
export async function claimExecution(
  query: Query,
  id: string,
  { isNotified = true, mayBeSuspect = false }: ClaimOptions = {},
): Promise<Claim> {
  const crashes = mayBeSuspect ? CRASHES_BEFORE_ISOLATION : CRASHES_BEFORE_ISOLATION - 1;
  for (;;) {
    const [claimed] = await query(CLAIM, { id, isNotified, crashes });
    if (claimed !== undefined) {
      const { input, input_messages: messages, told: _told, ...call } = claimed;
      return { ...call, input: messages ?? input ?? '' };
    }
    if (await withdrawUnaccepted(query, id)) return 'nothing';
    const [row] = await query(UNCLAIMED, { id });
    if (row === undefined || row.answered_at !== null || isFinished(row.status)) return 'nothing';
    if (row.model_attempts >= MAX_CALL_ATTEMPTS) {
      const fallback = await leaveExhaustedModel(query, id);
      return fallback === undefined ? 'exhausted' : { fallback };
    }
    if (row.crashes > crashes) return row.crashes > CRASHES_BEFORE_ISOLATION ? 'poison' : 'suspect';
    // A caller has just been notified of it.
  }
}
