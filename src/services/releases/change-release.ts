import { sql, type UpdateObject } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { asJson } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { publicId } from '../../domain/ids.ts';
import {
  type ReleaseActor,
  type ReleaseDecision,
  type ReleaseStep,
  type StepRun,
  type StoredStep,
  spanMs,
} from '../../domain/releases/release.ts';
import { isFinishedRelease, type ReleaseStatus, releaseStates } from '../../domain/releases/release-states.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { recordChange } from '../audit/record-change.ts';
import { writeEvent } from '../events/write-event.ts';
import { type Mover, requireSteps } from '../prompts/label-policies.ts';
import { moveLabel } from '../prompts/labels.ts';
import type { ReleaseRow } from './releases.ts';

/** The actor of decisions by the service itself. */
export const SERVICE: ReleaseActor = { key_id: null, name: 'release' };

/** Marks a change that the workflow must notice. The code that makes the change signals the workflow; if that fails, the reconciliation does. */
export async function markSignalPending(query: Query, { id }: Pick<ReleaseRow, 'id'>): Promise<void> {
  await query((db) =>
    db
      .updateTable('releases')
      .set({ signal_pending: true, check_at: sql<Date>`now() + interval '15 seconds'` })
      .where('id', '=', id),
  );
}

interface Changes {
  status?: ReleaseStatus;
  steps?: StoredStep[];
  step?: number;
  percent?: number;
  stage?: number;
  statusReason?: string | null;
  decision?: Omit<ReleaseDecision, 'at' | 'step'>;
  approvals?: ReleaseRow['approvals'];
  evaluationId?: string;
  promoted?: boolean;
}

const iso = () => new Date().toISOString();

/**
 * Stores the changes of a release that the transaction has locked.
 * @returns the row as it is now
 */
export async function saveRelease(query: Query, row: ReleaseRow, changes: Changes): Promise<ReleaseRow> {
  const { status = row.status } = changes;
  const decisions =
    changes.decision === undefined
      ? row.decisions
      : [...row.decisions, { at: iso(), step: row.step, ...changes.decision }];
  const after: ReleaseRow = {
    ...row,
    status,
    decisions,
    steps: changes.steps ?? row.steps,
    step: changes.step ?? row.step,
    percent: changes.percent ?? row.percent,
    stage: changes.stage ?? row.stage,
    status_reason: changes.statusReason === undefined ? row.status_reason : changes.statusReason,
    approvals: changes.approvals ?? row.approvals,
    evaluation_id: changes.evaluationId ?? row.evaluation_id,
    promoted_at: changes.promoted === true ? new Date() : row.promoted_at,
  };
  const columns: UpdateObject<Tables, 'releases'> = {
    steps: asJson(after.steps),
    step: after.step,
    percent: after.percent,
    stage: after.stage,
    status_reason: after.status_reason,
    approvals: asJson(after.approvals),
    decisions: asJson(after.decisions),
    evaluation_id: after.evaluation_id,
    ...(changes.promoted && { promoted_at: now }),
    ...(isFinishedRelease(status) && { finished_at: now }),
  };
  const change = status === row.status ? undefined : changeState(releaseStates, { to: status, from: [row.status] });
  await query((db) => {
    const update = db
      .updateTable('releases')
      .set({ ...columns, ...change?.set })
      .where('id', '=', row.id);
    return change === undefined ? update : update.where(change.where);
  });
  return after;
}

/** Sets who gets which version from now on. `stage`: the step whose numbers count from now on. */
export async function setSplit(query: Query, row: ReleaseRow, percent: number, stage: number): Promise<void> {
  await query((db) =>
    db
      .updateTable('prompt_labels')
      .set({ release_id: row.id, candidate: row.candidate_version, percent, salt: row.salt, stage })
      .where('prompt_id', '=', row.prompt_id)
      .where('label', '=', row.label),
  );
}

/**
 * Gives all callers the version that the label points at.
 * @param backTo the version to move back to, whatever is wrong with it
 */
async function endSplit(query: Query, row: ReleaseRow, backTo?: number): Promise<void> {
  const moved = await query((db) =>
    db
      .updateTable('prompt_labels')
      .set({ release_id: null, candidate: null, percent: null, salt: null, stage: null })
      .$if(backTo !== undefined, (update) => update.set({ version: backTo ?? 0, updated_at: now }))
      .where('prompt_id', '=', row.prompt_id)
      .where('label', '=', row.label)
      .where('release_id', '=', row.id)
      .returning('id'),
  );
  if (moved.length > 0 && backTo !== undefined)
    await recordChange(query, 'label.moved', row.prompt_name, {
      label: row.label,
      version: backTo,
      previous_version: row.candidate_version,
      release: publicId('release', row.id),
    });
}

/** The step with a run that starts now. */
const begun = (step: StoredStep): StoredStep => {
  const span = spanOf(step);
  const at = Date.now();
  const due = span === undefined ? null : new Date(at + spanMs(span)).toISOString();
  return { ...step, state: 'active', started_at: new Date(at).toISOString(), due_at: due };
};

const spanOf = (step: ReleaseStep): string | undefined => ('for' in step ? step.for : undefined);

const replaced = (steps: readonly StoredStep[], index: number, run: Partial<StepRun>): StoredStep[] =>
  steps.map((step, at) => (at === index ? { ...step, ...run } : step));

/** The steps, with changes to the run of the current step. */
export const withRun = (row: ReleaseRow, run: Partial<StepRun>): StoredStep[] => replaced(row.steps, row.step, run);

/** The steps of a release that starts, with the first one started. */
export const firstBegun = (steps: readonly StoredStep[]): StoredStep[] =>
  steps.map((step, index) => (index === 0 ? begun(step) : step));

const dataOf = (row: ReleaseRow) => ({
  release_id: publicId('release', row.id),
  prompt_name: row.prompt_name,
  label: row.label,
  stable_version: row.stable_version,
  candidate_version: row.candidate_version,
  status: row.status,
  reason: row.status_reason,
});

export const tell = (query: Query, type: `release.${string}` & Parameters<typeof writeEvent>[1], row: ReleaseRow) =>
  writeEvent(query, type, dataOf(row));

/** Ends the current step of a release and starts the next one. An approval is requested immediately. */
export async function goOn(
  query: Query,
  row: ReleaseRow,
  run: Partial<StepRun> & { state: 'passed' | 'inconclusive' | 'skipped' },
  changes: Changes = {},
): Promise<ReleaseRow> {
  const next = row.step + 1;
  const ended = replaced(row.steps, row.step, { finished_at: iso(), ...run });
  const steps = ended.map((step, index) => (index === next ? begun(step) : step));
  // The decision concerns the step that has ended.
  const decided = await saveRelease(query, row, { ...changes, steps });
  const after = await saveRelease(query, decided, { step: next, status: 'in_progress', statusReason: null });
  return after.steps[next]?.type === 'approve' ? askForApproval(query, after) : after;
}

/** Waits for people to decide, and stores the current numbers that they decide by with the step. */
export async function askForApproval(query: Query, row: ReleaseRow): Promise<ReleaseRow> {
  const numbers = {
    candidate_version: row.candidate_version,
    evaluation_id: row.evaluation_id === null ? null : publicId('evaluation', row.evaluation_id),
    results: lastNumbers(row.steps),
  };
  const asked = await saveRelease(query, row, { status: 'awaiting_approval', steps: withRun(row, { numbers }) });
  await tell(query, 'release.awaiting_approval', asked);
  return asked;
}

/** The results that people decide by: those of the last step with results. */
function lastNumbers(steps: readonly StoredStep[]): JsonValue {
  return steps.findLast(({ type, numbers }) => type !== 'approve' && numbers !== null)?.numbers ?? null;
}

export type ReleaseEnd = 'succeeded' | 'rolled_back' | 'rejected' | 'failed' | 'superseded' | 'canceled';

/** Ends a release in the caller's transaction: from the commit on, all callers get the same version again. */
export async function endRelease(
  query: Query,
  row: ReleaseRow,
  status: ReleaseEnd,
  statusReason: string | null,
  changes: Changes = {},
): Promise<ReleaseRow> {
  const isBack = row.promoted_at !== null && (status === 'rolled_back' || status === 'failed');
  await endSplit(query, row, isBack ? row.stable_version : undefined);
  const state =
    status === 'succeeded' ? 'passed' : status === 'canceled' || status === 'superseded' ? 'skipped' : 'failed';
  const finished_at = iso();
  const steps = (changes.steps ?? row.steps).map((step) => {
    if (step.state === 'active') return { ...step, state, finished_at } as const;
    return step.state === 'pending' ? ({ ...step, state: 'skipped' } as const) : step;
  });
  const after = await saveRelease(query, row, { ...changes, status, statusReason, steps, percent: 0 });
  if (status === 'rolled_back') await tell(query, 'release.rolled_back', after);
  await tell(query, 'release.finished', after);
  return after;
}

/**
 * Moves the label. A release moves it only through this function.
 * @param mover who skips steps; undefined: the release itself, at its end
 * @returns the audit log details of an override
 * @throws ApiError if the label may not (or no longer) point at the candidate, or the steps that the label requires are not complete
 */
export async function moveToCandidate(query: Query, row: ReleaseRow, mover?: Mover): Promise<{ override?: string }> {
  const { prompt_name: name, label, candidate_version: version } = row;
  const override = await requireSteps(query, row, mover ?? { scopes: [] });
  await moveLabel(query, { name, label, version }, { release: row.id });
  return override;
}
