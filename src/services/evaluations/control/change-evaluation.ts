import type { RawBuilder, SqlBool, UpdateObject } from 'kysely';
import type { Logger } from 'pino';
import type { Query } from '../../../db/database.ts';
import { changeState, type StateChange } from '../../../db/state-change.ts';
import type { Tables } from '../../../db/tables.ts';
import type { AuditAction } from '../../../domain/audit.ts';
import { ApiError } from '../../../domain/errors.ts';
import {
  type ENDED_EVALUATION,
  type EvaluationStatus,
  evaluationStates,
} from '../../../domain/evaluations/evaluation-states.ts';
import { publicId } from '../../../domain/ids.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import { evaluationWorkflowId } from '../../../temporal/names.ts';
import { leaveToReconciliation, tellChanged, type WorkflowStarter } from '../../../temporal/workflows.ts';
import { recordChange } from '../../audit/record-change.ts';
import { isRunByCaller, STILL_DUE } from '../code/code-runs.ts';
import { EVALUATION_COLUMNS, type EvaluationRow, getEvaluation, SIGNAL_PENDING } from '../evaluations.ts';

export type ControlDeps = WorkflowStarter & { log: Logger };

/** A change of state and its condition; without `set`, the state is unchanged. */
export interface Way extends Partial<StateChange<'status'>> {
  where: RawBuilder<SqlBool>;
  /** Only if the run has, or has not, started before. */
  hasStarted?: boolean;
}

interface Change {
  /** Tried in turn until one applies to the row. */
  ways: Way[];
  /** Additional columns to set. */
  set: UpdateObject<Tables, 'evaluations'>;
  /** The states in which the change is allowed, for the error. */
  from: readonly EvaluationStatus[];
  /** The change that the caller wanted, for the error: `paused`. */
  done: string;
  /** Only for runs of the service: a caller's program continues whatever the row says. */
  isOfService?: boolean;
  /** The action for the audit log, with its details. */
  audit: readonly [AuditAction, Record<string, JsonValue>?];
}

/**
 * Changes an evaluation as its caller requests. The row is `signal_pending` until its workflow, if there is one, reads it, and is
 * checked soon, even if this process dies now.
 * @param query of a transaction of the workspace
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function changeEvaluation(query: Query, id: string, change: Change): Promise<EvaluationRow> {
  const before = await getEvaluation(query, id);
  if (change.isOfService && isRunByCaller(before))
    throw new ApiError(
      'invalid_state',
      `This evaluation can't be ${change.done} because your program runs it: stop and restart the program, or cancel the run to end it.`,
    );
  const told = isRunByCaller(before) ? STILL_DUE : SIGNAL_PENDING;
  for (const { set, where, hasStarted } of change.ways) {
    const [row] = await query((db) => {
      const update = db
        .updateTable('evaluations')
        .set({ ...set, ...change.set, ...told })
        .where('id', '=', id)
        .where(where)
        .returning(EVALUATION_COLUMNS);
      return hasStarted === undefined ? update : update.where('started_at', hasStarted ? 'is not' : 'is', null);
    });
    if (row) {
      const [action, details] = change.audit;
      await recordChange(query, action, publicId('evaluation', id), details);
      return row;
    }
  }
  const { status } = await getEvaluation(query, id);
  throw new ApiError(
    'invalid_state',
    `This evaluation is ${status}: it can only be ${change.done} while ${change.from.join(' or ')}.`,
  );
}

/** Back to `running`, or to `scheduled` if it had not started. */
export function continueFrom(from: readonly ('paused' | (typeof ENDED_EVALUATION)[number])[]): Way[] {
  const unfinished = from.filter((status) => status !== 'completed');
  return [
    { ...changeState(evaluationStates, { to: 'running', from }), hasStarted: true },
    { ...changeState(evaluationStates, { to: 'scheduled', from: unfinished }), hasStarted: false },
  ];
}

/** Signals the workflow, if there is one. */
export async function signalWorkflow(deps: ControlDeps, row: EvaluationRow): Promise<void> {
  if (isRunByCaller(row)) return;
  await tellChanged(deps, evaluationWorkflowId(row.id, row.retries)).catch(
    leaveToReconciliation(deps.log, { evaluation_id: row.id }),
  );
}
