import type { Query } from '../../../db/database.ts';
import { ago, now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { EVENT_COLUMNS, eventOf, type NewEvent, newEvent } from '../../events/write-event.ts';
import { COMPLETED_DATA, END_AND_NOTIFICATIONS, hasEvents } from '../execution-events.ts';
import type { PreparedExecution } from './create-execution.ts';

const COMPLETE = changeState(executionStates, { to: 'completed', from: ['queued'] }, 'e');

/** The statement runs in the workspace, which is added to it automatically. */
const [, ...OWN_EVENT_COLUMNS] = EVENT_COLUMNS;

interface Reuse extends NewEvent {
  id: string;
  callHash: Buffer;
  model: string;
  maxAgeMs: number;
}

const REUSE = prepared<Reuse>()((db, { id, callHash, model, maxAgeMs, eventId, traceparent }) =>
  db
    .with('earlier', (cte) =>
      cte
        .selectFrom('executions')
        .select(['id', 'output', 'tool_calls', 'finish_reason'])
        .where('call_hash', '=', callHash)
        .where('model', '=', model)
        .where(inStates(executionStates, ['completed']))
        .where('reused_from', 'is', null)
        .where('finished_at', '>=', ago(maxAgeMs))
        .orderBy('finished_at', 'desc')
        .limit(1),
    )
    .with('done', (cte) =>
      cte
        .updateTable('executions as e')
        .from('earlier')
        .set((eb) => ({
          ...COMPLETE.set,
          reused_from: eb.ref('earlier.id'),
          output: eb.ref('earlier.output'),
          tool_calls: eb.ref('earlier.tool_calls'),
          finish_reason: eb.ref('earlier.finish_reason'),
          cost_amount: '0',
          model_ms: 0,
          started_at: now,
          answered_at: now,
          finished_at: now,
        }))
        .where('e.id', '=', id)
        .where(COMPLETE.where)
        .returningAll('e'),
    )
    .with('event', (cte) => {
      const [, ...values] = eventOf('execution.completed', { eventId, traceparent }, COMPLETED_DATA);
      return cte
        .insertInto('events')
        .columns(OWN_EVENT_COLUMNS)
        .expression(cte.selectFrom('done').select(values).where(hasEvents))
        .returning('dispatched_at');
    })
    .selectFrom('done')
    .select(END_AND_NOTIFICATIONS),
);

/**
 * Completes a newly stored execution with the response of an earlier one: the same call of the same model in this workspace,
 * completed within that time by a real call. No model is called, and nothing is paid.
 * @returns whether there is such a response
 */
export async function reuseResponse(
  query: Query,
  { id, callHash, model }: Pick<PreparedExecution, 'id' | 'callHash' | 'model'>,
  maxAgeMs: number,
): Promise<boolean> {
  return (await query(REUSE, { id, callHash, model, maxAgeMs, ...newEvent() })).length > 0;
}
