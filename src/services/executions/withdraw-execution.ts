import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { notify, now } from '../../db/sql.ts';
import { changeState, inStates } from '../../db/state-change.ts';
import { prepared } from '../../db/statement.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { isWanted } from '../acceptance/is-wanted.ts';
import { callCanceled } from './calls.ts';

const CANCEL = changeState(executionStates, { to: 'canceled', from: ['running'] });
const isQueued = inStates(executionStates, ['queued']);
const resourceId = sql<string>`${sql.ref('gone.id')}::text`;

const WITHDRAW_UNACCEPTED = prepared<{ id: string }>()((db, { id }) =>
  db
    .with('gone', (cte) =>
      cte
        .deleteFrom('executions')
        .where('id', '=', id)
        .where(isQueued)
        .where((eb) => eb.not(isWanted))
        .returning(['id', 'workspace_id']),
    )
    .with('keys', (cte) =>
      cte
        .deleteFrom('idempotency_keys as k')
        .using('gone')
        .whereRef('k.workspace_id', '=', 'gone.workspace_id')
        .where('k.resource_id', '=', resourceId),
    )
    .selectFrom('gone')
    .select('id'),
);

/**
 * Withdraws an execution that no caller was told of in time, with its idempotency key.
 * @returns whether it was withdrawn
 */
export async function withdrawUnaccepted(query: Query, id: string): Promise<boolean> {
  return (await query(WITHDRAW_UNACCEPTED, { id })).length > 0;
}

const WITHDRAW = prepared<{ id: string; force: boolean }>()((db, { id, force }) =>
  db
    .with('deleted', (cte) =>
      cte
        .deleteFrom('executions')
        .where('id', '=', id)
        .where(isQueued)
        .where((eb) => eb.or([eb('accepted_at', 'is', null), sql<boolean>`${force}::boolean`]))
        .returning('id'),
    )
    .with('canceled', (cte) =>
      cte
        .updateTable('executions')
        .set({ ...CANCEL.set, calls: callCanceled, finished_at: now })
        .where('id', '=', id)
        .where(CANCEL.where)
        .where(sql<boolean>`${force}::boolean`)
        .returning('id'),
    )
    .with('gone', (cte) => cte.selectFrom('deleted').select('id').unionAll(cte.selectFrom('canceled').select('id')))
    .with('keys', (cte) =>
      cte.deleteFrom('idempotency_keys as k').using('gone').where('k.resource_id', '=', resourceId),
    )
    .selectNoFrom((eb) => [
      eb
        .and([
          eb.not(eb.exists(eb.selectFrom('gone').select('id'))),
          eb.exists(eb.selectFrom('executions').select('id').where('id', '=', id)),
        ])
        .as('runs'),
      eb
        .selectFrom('canceled')
        .select(notify(CHANNELS.executionFinished, sql.ref<string>('id')).as('told'))
        .as('told'),
    ]),
);

/**
 * Withdraws an execution whose caller is told that it failed, with its idempotency key: one that is queued is deleted.
 * @param force also one that a caller may have been told of; one that is running is canceled
 * @returns false where it runs, or will: the start did reach Temporal, or another request waits for it
 */
export async function withdrawExecution(db: WorkspaceDatabase, id: string, force: boolean): Promise<boolean> {
  const [row] = await db.query(WITHDRAW, { id, force });
  return row?.runs !== true;
}
