import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { personOf, type ReleaseActor, type ReleaseDecision } from '../../domain/releases/release.ts';
import { isFinishedRelease, type ReleaseStatus } from '../../domain/releases/release-states.ts';
import { allows } from '../../domain/scopes.ts';
import { releaseWorkflowId } from '../../temporal/names.ts';
import { leaveToReconciliation, tellChanged } from '../../temporal/workflows.ts';
import { recordChange } from '../audit/record-change.ts';
import { holdersOf } from '../members/holder.ts';
import type { Mover } from '../prompts/label-policies.ts';
import { requireMover } from '../prompts/labels.ts';
import { endRelease, goOn, markSignalPending, moveToCandidate, saveRelease, tell, withRun } from './change-release.ts';
import { actorNow } from './create-release.ts';
import type { ReleaseDeps } from './release-workflow.ts';
import { getRelease, lockRelease, type ReleaseRow } from './releases.ts';

export const RELEASE_CONTROLS = ['approve', 'reject', 'pause', 'resume', 'promote', 'rollback', 'cancel'] as const;
export type ReleaseControl = (typeof RELEASE_CONTROLS)[number];

interface Control {
  /** The states in which the action is allowed. */
  from: readonly ReleaseStatus[];
  /** The state that it leads to. In this state, the action has no effect. */
  to: ReleaseStatus;
  audit: AuditAction;
  verdict: ReleaseDecision['verdict'];
  /** @param details for the audit log */
  run: (query: Query, row: ReleaseRow, decision: Decision, mover: Mover, details: AuditDetails) => Promise<ReleaseRow>;
}

type AuditDetails = { override?: string };

type Decision = Omit<ReleaseDecision, 'at' | 'step'>;

/** `because` the caller said so. */
const byRequest = (done: string, { by, comment }: Decision) =>
  `${done} by ${by.name}${comment === null ? '' : `: ${comment}`}`;

async function approve(query: Query, row: ReleaseRow, decision: Decision): Promise<ReleaseRow> {
  const step = row.steps[row.step];
  if (step?.type !== 'approve') throw new Error('The release is waiting for approval at another step.');
  const { by, comment } = decision;
  const { person, approvers, authors } = await peopleOf(query, row, by);
  if (approvers.includes(person)) return row;
  if (step.exclude_author && person !== null && authors.includes(person))
    throw new ApiError(
      'invalid_state',
      'Someone else must approve this step: the keys that created the version or started the release do not count.',
    );
  const approvals = [
    ...row.approvals,
    {
      step: row.step,
      by,
      at: new Date().toISOString(),
      comment,
      candidate_version: row.candidate_version,
      evaluation_id: row.evaluation_id === null ? null : publicId('evaluation', row.evaluation_id),
    },
  ];
  const count = approvals.filter((approval) => approval.step === row.step).length;
  if (count >= step.count) return goOn(query, row, { state: 'passed' }, { approvals, decision });
  return saveRelease(query, row, { approvals, decision, statusReason: `${count} of ${step.count} approvals` });
}

/** Who approves, and who must not: keys derived from one another are one person. */
async function peopleOf(query: Query, { approvals, step, authors }: ReleaseRow, by: ReleaseActor) {
  const approvers = approvals.filter((approval) => approval.step === step).map((approval) => personOf(approval.by));
  const person = personOf(by);
  const holderOf = await holdersOf(
    query,
    [person, ...approvers, ...authors].filter((id) => id !== null),
  );
  const resolve = (id: string | null) => (id === null ? null : holderOf(id));
  return { person: resolve(person), approvers: approvers.map(resolve), authors: authors.map(holderOf) };
}

/** Continues at the current step. An inconclusive result is accepted. */
async function resume(query: Query, row: ReleaseRow, decision: Decision): Promise<ReleaseRow> {
  const state = row.steps[row.step]?.state;
  if (row.promoted_at !== null) {
    if (state === 'inconclusive')
      return endRelease(query, row, 'succeeded', byRequest('resumed', decision), { decision });
    return saveRelease(query, row, { status: 'baking', statusReason: null, decision });
  }
  const resumed = await saveRelease(query, row, { status: 'in_progress', statusReason: null, decision });
  return state === 'inconclusive' ? goOn(query, resumed, { state }) : resumed;
}

/** Skips the remaining steps and moves the label now. If the label moves only by releases, only an `admin` can skip its steps. */
async function promote(
  query: Query,
  row: ReleaseRow,
  decision: Decision,
  mover: Mover,
  details: AuditDetails,
): Promise<ReleaseRow> {
  if (row.promoted_at !== null)
    return endRelease(query, row, 'succeeded', byRequest('promoted', decision), { decision });
  Object.assign(details, await moveToCandidate(query, row, mover));
  const steps = withRun(row, { state: 'skipped', finished_at: new Date().toISOString() });
  const reason = byRequest('promoted', decision);
  const ended = await endRelease(query, row, 'succeeded', reason, { decision, steps, promoted: true });
  await tell(query, 'release.promoted', ended);
  return ended;
}

const CONTROLS: Record<ReleaseControl, Control> = {
  approve: {
    from: ['awaiting_approval'],
    to: 'in_progress',
    audit: 'release.approved',
    verdict: 'approved',
    run: approve,
  },
  reject: {
    from: ['awaiting_approval'],
    to: 'rejected',
    audit: 'release.rejected',
    verdict: 'rejected',
    run: (query, row, decision) => endRelease(query, row, 'rejected', byRequest('rejected', decision), { decision }),
  },
  pause: {
    from: ['in_progress', 'baking'],
    to: 'paused',
    audit: 'release.paused',
    verdict: 'paused',
    run: (query, row, decision) =>
      saveRelease(query, row, { status: 'paused', statusReason: byRequest('paused', decision), decision }),
  },
  resume: { from: ['paused'], to: 'in_progress', audit: 'release.resumed', verdict: 'resumed', run: resume },
  promote: {
    from: ['in_progress', 'paused', 'awaiting_approval', 'baking'],
    to: 'succeeded',
    audit: 'release.promoted',
    verdict: 'promoted',
    run: promote,
  },
  rollback: {
    from: ['in_progress', 'paused', 'awaiting_approval', 'baking'],
    to: 'rolled_back',
    audit: 'release.rolled_back',
    verdict: 'rolled_back',
    run: (query, row, decision) =>
      endRelease(query, row, 'rolled_back', byRequest('rolled back', decision), { decision }),
  },
  cancel: {
    from: ['in_progress', 'paused', 'awaiting_approval'],
    to: 'canceled',
    audit: 'release.canceled',
    verdict: 'canceled',
    run: (query, row, decision) => endRelease(query, row, 'canceled', byRequest('canceled', decision), { decision }),
  },
};

/** Whether a repeated action was already done, so that it has no effect. */
async function isDone(query: Query, action: ReleaseControl, row: ReleaseRow, by: ReleaseActor): Promise<boolean> {
  if (action === 'approve') {
    const steps = row.approvals.map(({ step }) => step);
    const people = await Promise.all([...new Set(steps)].map((step) => peopleOf(query, { ...row, step }, by)));
    return people.some(({ person, approvers }) => approvers.includes(person));
  }
  if (action === 'resume') return row.status === 'in_progress' || row.status === 'baking';
  return row.status === CONTROLS[action].to;
}

/**
 * Performs a caller's action on a release, in one transaction, and signals its workflow. Repeating it has no effect.
 * @throws ApiError `not_found`, `insufficient_scope`, `invalid_state`
 */
export async function controlRelease(
  deps: ReleaseDeps,
  db: WorkspaceDatabase,
  id: string,
  action: ReleaseControl,
  { mover, comment }: { mover: Mover; comment: string | null },
): Promise<ReleaseRow> {
  const { from, audit, verdict, run } = CONTROLS[action];
  const row = await db.transaction(async (query) => {
    const locked = await lockRelease(query, id);
    if (locked === undefined) throw notFound('This release');
    await requireController(query, action, locked.label, mover);
    const by = actorNow();
    if (!from.includes(locked.status)) {
      if (await isDone(query, action, locked, by)) return locked;
      throw refused(action, locked);
    }
    const details: AuditDetails = {};
    const after = await run(query, locked, { verdict, by, comment, numbers: null }, mover, details);
    if (after === locked) return locked;
    await markSignalPending(query, locked);
    await recordChange(query, audit, publicId('release', id), {
      prompt_name: locked.prompt_name,
      label: locked.label,
      status: after.status,
      ...details,
    });
    return after;
  });
  await tellChanged(deps, releaseWorkflowId(row.id)).catch(leaveToReconciliation(deps.log, { release_id: row.id }));
  return getRelease(db.query, row.id);
}

/** @throws ApiError `insufficient_scope` */
async function requireController(query: Query, action: ReleaseControl, label: string, mover: Mover): Promise<void> {
  if (action !== 'approve' && action !== 'reject' && action !== 'promote') return requireMover(query, label, mover);
  if (!allows(mover.scopes, 'publish'))
    throw new ApiError('insufficient_scope', `To ${action} a release, a key needs the scope "publish".`);
}

function refused(action: ReleaseControl, { status, id }: ReleaseRow): ApiError {
  const name = publicId('release', id);
  const { from } = CONTROLS[action];
  const hint =
    action === 'cancel' && status === 'baking'
      ? ' The label has moved: roll it back, or promote it to end the bake.'
      : '';
  return new ApiError(
    'invalid_state',
    `${name} ${isFinishedRelease(status) ? 'has ended as' : 'is'} ${status}: it can only be ${DONE[action]} while ${from.join(' or ')}.${hint}`,
  );
}

const DONE: Record<ReleaseControl, string> = {
  approve: 'approved',
  reject: 'rejected',
  pause: 'paused',
  resume: 'resumed',
  promote: 'promoted',
  rollback: 'rolled back',
  cancel: 'canceled',
};
