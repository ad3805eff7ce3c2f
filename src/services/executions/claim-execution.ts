import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState, inStates } from '../../db/state-change.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { MAX_CALL_ATTEMPTS } from '../../domain/limits.ts';
import { isWanted } from '../acceptance/is-wanted.ts';
import { isFinished } from './executions.ts';
import { withdrawUnaccepted } from './withdraw-execution.ts';

const RUN = changeState(executionStates, { to: 'running' });

const CLAIM = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('executions')
    .set((eb) => ({ ...RUN.set, attempts: eb('attempts', '+', 1), started_at: eb.fn.coalesce('started_at', now) }))
    .where('id', '=', id)
    .where(RUN.where)
    .where('answered_at', 'is', null)
    .where('attempts', '<', MAX_CALL_ATTEMPTS)
    .where((eb) => eb.or([inStates(executionStates, ['running']), isWanted]))
    .returning(['model', 'input', 'parameters', 'attempts as attempt'])
    .returning(sql<boolean>`attempts >= ${MAX_CALL_ATTEMPTS}`.as('isLastAttempt')),
);
const UNCLAIMED = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select(['status', 'attempts', 'answered_at']).where('id', '=', id),
);

/** A call to make, which attempt at its execution it is (from 1), and whether it is the last one. */
export type ClaimedCall = RowOf<typeof CLAIM>;

/**
 * Takes an execution to call its model. This is the one place that limits how often that happens.
 * @returns `nothing` where it has its response, has ended or was withdrawn; `exhausted` where it was tried
 * `MAX_CALL_ATTEMPTS` times
 */
export async function claimExecution(query: Query, id: string): Promise<ClaimedCall | 'nothing' | 'exhausted'> {
  for (;;) {
    const [claimed] = await query(CLAIM, { id });
    if (claimed !== undefined) return claimed;
    if (await withdrawUnaccepted(query, id)) return 'nothing';
    const [row] = await query(UNCLAIMED, { id });
    if (row === undefined || row.answered_at !== null || isFinished(row.status)) return 'nothing';
    if (row.attempts >= MAX_CALL_ATTEMPTS) return 'exhausted';
    // A caller was told of it just now.
  }
}
