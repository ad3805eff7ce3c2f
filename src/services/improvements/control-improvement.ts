import type { WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { ImprovementStatus } from '../../domain/improvements/improvement-states.ts';
import { evaluationWorkflowId, improvementWorkflowId } from '../../temporal/names.ts';
import { leaveToReconciliation, tellChanged } from '../../temporal/workflows.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { type ImprovementDeps, startImprovementWorkflow } from './improvement-workflow.ts';
import {
  getImprovement,
  type ImprovementRow,
  lockImprovement,
  SIGNAL_PENDING,
  saveImprovement,
} from './improvements.ts';
import { cancelTrials } from './trials.ts';

export const IMPROVEMENT_CONTROLS = ['pause', 'resume', 'finish', 'cancel', 'retry'] as const;
export type ImprovementControl = (typeof IMPROVEMENT_CONTROLS)[number];

interface Control {
  from: readonly ImprovementStatus[];
  to: ImprovementStatus;
  /** Whether it was done already, so that a repeated request changes nothing. */
  isDone: (row: ImprovementRow) => boolean;
  /** The past participle, for errors. */
  done: string;
  audit: AuditAction;
}

const CONTROLS: Record<ImprovementControl, Control> = {
  pause: {
    from: ['running'],
    to: 'paused',
    isDone: ({ status }) => status === 'paused',
    done: 'paused',
    audit: 'improvement.paused',
  },
  resume: {
    from: ['paused'],
    to: 'running',
    isDone: ({ status }) => status === 'running',
    done: 'resumed',
    audit: 'improvement.resumed',
  },
  finish: {
    from: ['running', 'paused'],
    to: 'running',
    isDone: ({ phase, status }) => phase === 'verdict' && status === 'running',
    done: 'finished',
    audit: 'improvement.finished',
  },
  cancel: {
    from: ['running', 'paused'],
    to: 'canceled',
    isDone: ({ status }) => status === 'canceled',
    done: 'canceled',
    audit: 'improvement.canceled',
  },
  retry: {
    from: ['failed'],
    to: 'running',
    isDone: ({ status }) => status === 'running',
    done: 'retried',
    audit: 'improvement.retried',
  },
};

/** @throws ApiError `invalid_request`: the limit must be above what was spent, and above the old one if that is used up */
function checkCap({ state, max_cost: before }: ImprovementRow, maxCost: string | undefined): void {
  if (maxCost !== undefined && Number(maxCost) <= state.spent.cost)
    throw invalidField('max_cost', `must be above what was spent so far, ${Number(state.spent.cost.toFixed(6))} USD`);
  if (state.outOfMoney && before !== null && (maxCost === undefined || Number(maxCost) <= Number(before)))
    throw invalidField('max_cost', `must be above the limit that is used up, ${before} USD`);
}

/**
 * Performs a caller's action on an improvement, in one transaction, and signals its workflow. Repeating it has no effect.
 * @param options `maxCost` with `resume`: a new limit in US dollars, decimal; `quotas` with `retry`
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request`, `quota_exceeded`
 */
export async function controlImprovement(
  deps: ImprovementDeps,
  db: WorkspaceDatabase,
  id: string,
  action: ImprovementControl,
  { maxCost, quotas }: { maxCost?: string | undefined; quotas?: Pick<Quotas, 'require'> } = {},
): Promise<ImprovementRow> {
  const { from, to, isDone, done, audit } = CONTROLS[action];
  const { row, ended } = await db.transaction(async (query) => {
    const locked = await lockImprovement(query, id);
    if (locked === undefined) throw notFound('This improvement');
    if (isDone(locked) && maxCost === undefined) return { row: locked, ended: [] };
    if (!from.includes(locked.status))
      throw new ApiError(
        'invalid_state',
        `${publicId('improvement', id)} is ${locked.status}: it can only be ${done} while ${from.join(' or ')}.`,
      );
    if (action === 'resume') checkCap(locked, maxCost);
    const isEnd = action === 'cancel';
    const canceled = isEnd ? await cancelTrials(query, id) : [];
    const after = await saveImprovement(
      query,
      locked,
      {
        status: to,
        status_reason: action === 'pause' ? 'paused by request' : null,
        error: null,
        state: { ...locked.state, outOfMoney: false, ...(action === 'retry' && { retried: newId() }) },
        ...(maxCost !== undefined && { max_cost: maxCost }),
        ...(action === 'finish' && { stop_reason: 'finished' }),
      },
      { ...SIGNAL_PENDING, ...(isEnd && { finished_at: now }), ...(action === 'retry' && { finished_at: null }) },
    );
    await recordChange(query, audit, publicId('improvement', id), {
      prompt_name: locked.prompt_name,
      ...(maxCost !== undefined && { max_cost: maxCost }),
    });
    if (action === 'retry') await quotas?.require(query, 'improvements');
    return { row: after, ended: canceled };
  });
  const later = leaveToReconciliation(deps.log, { improvement_id: row.id });
  if (action === 'retry') await startImprovementWorkflow(deps, row).catch(later);
  else await tellChanged(deps, improvementWorkflowId(row.id)).catch(later);
  for (const { id: evaluation, retries } of ended)
    await tellChanged(deps, evaluationWorkflowId(evaluation, retries)).catch(later);
  return getImprovement(db.query, row.id);
}
