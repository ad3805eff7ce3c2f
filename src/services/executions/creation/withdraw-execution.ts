import { sql } from 'kysely';
import { CHANNELS } from '../../../db/listener.ts';
import { notify, now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { createRowWithdrawal } from '../../acceptance/withdraw-row.ts';
import { callCanceled } from '../run/calls.ts';

const CANCEL = changeState(executionStates, { to: 'canceled', from: ['running'] });

export const { withdrawUnaccepted, withdraw: withdrawExecution } = createRowWithdrawal({
  table: 'executions',
  isUnbegun: inStates(executionStates, ['queued']),
  cancel: (db, id) =>
    db.with('gone', (cte) =>
      cte
        .updateTable('executions')
        .set({ ...CANCEL.set, calls: callCanceled, finished_at: now })
        .where('id', '=', id)
        .where(CANCEL.where)
        .returning(['id', 'workspace_id', notify(CHANNELS.executionFinished, sql.ref<string>('id')).as('told')]),
    ),
});
