import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { type Check, type CheckResult, type ScoreRange, scoreOf } from '../../domain/analysis/check.ts';
import { judgeChecks } from '../../domain/analysis/judge-checks.ts';
import { ApiError } from '../../domain/errors.ts';
import { parsePublicId } from '../../domain/ids.ts';
import {
  asJsonValue,
  checkEveryMs,
  checksOf,
  errorBoundOf,
  type ReleaseCheck,
  type ReleaseStepType,
  type StoredStep,
  spanMs,
  stepText,
} from '../../domain/releases/release.ts';
import { isFinishedRelease } from '../../domain/releases/release-states.ts';
import { isObject } from '../../domain/text/json.ts';
import { actAs, OPERATOR } from '../audit/acting.ts';
import { findScoreDefinitions } from '../scores/definitions.ts';
import { endRelease, goOn, moveToCandidate, SERVICE, saveRelease, setSplit, tell, withRun } from './change-release.ts';
import { type Arms, describeArms, readArms, readStage } from './numbers.ts';
import { lockRelease, type ReleaseRow } from './releases.ts';
import { sumUpReleases } from './sum-up-releases.ts';

/** What the workflow knows of its release: what to do next. Texts are for operators. */
export interface ReleaseView {
  /** `ended`: nothing is left to do. `waiting`: for people. */
  state: 'ended' | 'waiting' | 'at work';
  step: number;
  type: ReleaseStepType;
  /** Whether the label has moved already. */
  isBaking: boolean;
  /** The minimum time until the step is over. */
  waitMs: number;
  /** The interval of checks during the step; null if there is nothing to check. */
  checkEveryMs: number | null;
  /** The time until its deadline; null if there is none or it no longer counts. */
  deadlineMs: number | null;
  /** Markdown. */
  details: string;
  /** A few words. */
  summary: string;
}

const msUntil = (time: string | Date | null): number =>
  time === null ? 0 : Math.max(0, new Date(time).getTime() - Date.now());

/** The current step of a release. */
export function currentStep({ steps, step }: ReleaseRow): StoredStep {
  const current = steps[step];
  if (current === undefined) throw new Error(`A release is at step ${step}, which it does not have.`);
  return current;
}

/** The latest check of a step's numbers against their limits. */
function checkNotes({ numbers }: StoredStep): string[] {
  if (!isObject(numbers)) return [];
  const { checks } = numbers;
  if (!Array.isArray(checks)) return [];
  return checks.flatMap((check) => (isObject(check) && typeof check['note'] === 'string' ? [check['note']] : []));
}

function detailsOf(row: ReleaseRow): string {
  const { prompt_name: name, label, stable_version: stable, candidate_version: candidate, percent } = row;
  const lines = [
    `**${name}** @${label}: version ${stable} → ${candidate}, ${percent} % get ${candidate}`,
    `**${row.status.replaceAll('_', ' ')}**${row.status_reason === null ? '' : `: ${row.status_reason}`}`,
    ...row.steps.map(
      (step, index) =>
        `${index + 1}. ${stepText(step)}: ${step.state}${index === row.step && step.due_at !== null ? `, until ${step.due_at}` : ''}`,
    ),
    ...checkNotes(currentStep(row)).map((note) => `- ${note}`),
    ...row.approvals.map(({ by, at }) => `approved by ${by.name} at ${at}`),
  ];
  return lines.join('\n\n');
}

function viewOf(row: ReleaseRow): ReleaseView {
  const step = currentStep(row);
  const isEnded = isFinishedRelease(row.status);
  const isWaiting = row.status === 'paused' || row.status === 'awaiting_approval';
  const span = spanOf(step);
  const isBaking = row.promoted_at !== null;
  const hasChecks =
    checksOf(row.steps, row.step, row.percent).length > 0 ||
    errorBoundOf(row.steps, row.step, row.percent) !== undefined ||
    step.type === 'analyze';
  return {
    state: isEnded ? 'ended' : isWaiting ? 'waiting' : 'at work',
    step: row.step,
    type: step.type,
    isBaking,
    waitMs: msUntil(step.due_at),
    checkEveryMs:
      hasChecks && row.status !== 'paused'
        ? checkEveryMs(span === undefined ? Number.POSITIVE_INFINITY : spanMs(span))
        : null,
    deadlineMs: row.deadline === null || isBaking ? null : msUntil(row.deadline),
    details: detailsOf(row),
    summary: `${row.status.replaceAll('_', ' ')}, step ${row.step + 1} of ${row.steps.length}: ${stepText(step)}`,
  };
}

function spanOf(step: StoredStep): string | undefined {
  if (step.type === 'promote') return step.bake?.for;
  return 'for' in step ? step.for : undefined;
}

/**
 * What the workflow does next; reading it counts as noticing all changes.
 * @returns null if the release is gone
 */
export async function readForWorkflow({ system }: Database, id: string): Promise<ReleaseView | null> {
  return system.transaction(async (query) => {
    const row = await lockRelease(query, id);
    if (row === undefined) return null;
    await query((db) =>
      db.updateTable('releases').set({ signal_pending: false }).where('id', '=', id).where('signal_pending', '=', true),
    );
    return viewOf(row);
  });
}

/**
 * Changes a release at a step, on behalf of the person who started it. Does nothing if it is no longer at that step, or is waiting.
 * @param whileAwaiting also while it is waiting for an approval
 */
export async function atStep(
  { system }: Database,
  id: string,
  step: number,
  work: (query: Query, row: ReleaseRow, at: StoredStep) => Promise<unknown>,
  { whileAwaiting = false } = {},
): Promise<void> {
  await system.transaction(async (query) => {
    const row = await lockRelease(query, id);
    if (row === undefined || row.step !== step) return;
    const isAwaiting = row.status === 'awaiting_approval' && whileAwaiting;
    if (row.status !== 'in_progress' && row.status !== 'baking' && !isAwaiting) return;
    const own = bindWorkspace(query, row.workspace_id);
    await onBehalfOf(row, () => work(own, row, currentStep(row)));
  });
}

function onBehalfOf(
  { created_by: { key_id: keyId, member_id: memberOf = null, name } }: ReleaseRow,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const id = keyId === null ? undefined : parsePublicId('apiKey', keyId);
  const memberId = memberOf === null ? null : (parsePublicId('member', memberOf) ?? null);
  const key = id === undefined ? undefined : { id, name, memberId, sessionId: undefined };
  return actAs({ ...OPERATOR, key }, work);
}

/** Serves the candidate to the step's share. */
export const openCanary = (db: Database, id: string, step: number): Promise<void> =>
  atStep(db, id, step, async (query, row, at) => {
    if (at.type !== 'canary') return;
    await setSplit(query, row, at.percent, step);
    await goOn(query, row, { state: 'passed' }, { percent: at.percent, stage: step });
  });

export const endWait = (db: Database, id: string, step: number): Promise<void> =>
  atStep(db, id, step, (query, row) => goOn(query, row, { state: 'passed' }));

/** The numbers that the candidate is compared with. During a bake no caller gets the stable version, so its earlier numbers are used. */
async function armsFor(query: Query, row: ReleaseRow): Promise<Arms> {
  const stage = await readStage(query, row.id, row.stage);
  if (row.promoted_at === null) return stage;
  const all = (await readArms(query, [row.id])).get(row.id);
  return { stable: all?.stable ?? stage.stable, candidate: stage.candidate };
}

const inWords = (results: readonly CheckResult[]) => results.map(({ note }) => note).join('; ');

/** The probability that a release of a good candidate is rolled back, over all of its analyses and checks. */
const ALPHA = 0.05;
const analysesOf = (steps: readonly StoredStep[]) =>
  Math.max(
    1,
    steps.filter((step) => step.type === 'analyze' || (step.type === 'promote' && step.bake?.checks.length)).length,
  );

/** The probability that a release is rolled back in a stage whose error rate is at its bound. Independent of {@link ALPHA}. */
const BOUND_ALPHA = 0.001;

/** The check of the error rate, if it has failed; until then, other checks decide. */
function errorBoundFault(bound: number | undefined, arms: Arms): CheckResult[] {
  if (bound === undefined) return [];
  const check = { metric: 'error_rate', against: bound, max_increase: 0 } as const;
  return judgeChecks([check], arms, { alpha: BOUND_ALPHA }).filter(({ verdict }) => verdict === 'failed');
}

/** What to do about finished checks that are inconclusive. */
function whenInconclusive(
  checks: readonly ReleaseCheck[],
  results: readonly CheckResult[],
): ReleaseCheck['on_inconclusive'] {
  const ways = checks
    .filter((_, index) => results[index]?.verdict === 'inconclusive')
    .map((check) => check.on_inconclusive);
  if (ways.includes('rollback')) return 'rollback';
  return ways.includes('pause') ? 'pause' : 'continue';
}

/** The possible range of each score in the checks, if known. */
async function scoreRangesOf(query: Query, checks: readonly Check[]): Promise<Record<string, ScoreRange>> {
  const names = checks.flatMap(({ metric }) => scoreOf(metric) ?? []);
  if (names.length === 0) return {};
  const definitions = await findScoreDefinitions(query, names);
  return Object.fromEntries(
    [...definitions.values()].flatMap(({ name, data_type: type, min, max }) => {
      if (type === 'boolean') return [[name, { min: 0, max: 1 }]];
      return min === null || max === null ? [] : [[name, { min, max }]];
    }),
  );
}

/**
 * Checks the numbers: a failed check rolls back immediately. At the end of the step, decides how to continue.
 * @param isDue whether its time is over
 * @returns whether the release is still active at that step
 */
export async function checkStep(db: Database, id: string, step: number, isDue: boolean): Promise<boolean> {
  await sumUpReleases(db.system.query, id);
  let isStillThere = false;
  const look = async (query: Query, row: ReleaseRow, at: StoredStep): Promise<void> => {
    const checks = checksOf(row.steps, step, row.percent);
    const arms = await armsFor(query, row);
    const scoreRanges = await scoreRangesOf(query, checks);
    const results = [
      ...judgeChecks(checks, arms, { alpha: ALPHA / analysesOf(row.steps), scoreRanges }),
      ...errorBoundFault(errorBoundOf(row.steps, step, row.percent), arms),
    ];
    const numbers = asJsonValue({ at: new Date().toISOString(), arms: describeArms(arms), checks: results });
    const decide = (verdict: 'passed' | 'failed' | 'inconclusive') => ({
      decision: { verdict, by: SERVICE, comment: null, numbers },
    });
    const failed = results.filter(({ verdict }) => verdict === 'failed');
    // These steps keep their own numbers.
    const hasOwn = at.type === 'approve' || at.type === 'evaluate';
    if (failed.length > 0) {
      const steps = hasOwn ? row.steps : withRun(row, { numbers });
      await endRelease(query, row, 'rolled_back', inWords(failed), { ...decide('failed'), steps });
      return;
    }
    isStillThere = hasOwn;
    if (hasOwn) return;
    const missing = at.type === 'analyze' ? at.min_executions - arms.candidate.executions : 0;
    if (!isDue || missing > 0 || at.type === 'wait') {
      const statusReason = isDue && missing > 0 ? `waits for ${missing} more executions of the candidate` : null;
      await saveRelease(query, row, { steps: withRun(row, { numbers }), statusReason });
      isStillThere = true;
      return;
    }
    const unclear = results.filter(({ verdict }) => verdict === 'inconclusive');
    const state = unclear.length > 0 ? 'inconclusive' : 'passed';
    const run = { state, numbers, finished_at: new Date().toISOString() } as const;
    const way = unclear.length === 0 ? 'continue' : whenInconclusive(checks, results);
    if (way === 'continue') {
      if (at.type === 'promote')
        await endRelease(query, row, 'succeeded', null, { ...decide(state), steps: withRun(row, run) });
      else await goOn(query, row, run, decide(state));
    } else if (way === 'rollback') {
      await endRelease(query, row, 'rolled_back', inWords(unclear), { ...decide(state), steps: withRun(row, run) });
    } else {
      const statusReason = `inconclusive: ${inWords(unclear)}`;
      await saveRelease(query, row, { status: 'paused', statusReason, steps: withRun(row, run), ...decide(state) });
    }
  };
  await atStep(db, id, step, look, { whileAwaiting: true });
  return isStillThere;
}

/** Moves the label, and then bakes or ends. If the label can no longer move, the release fails. */
export const promoteStep = (db: Database, id: string, step: number): Promise<void> =>
  atStep(db, id, step, async (query, row, at) => {
    if (at.type !== 'promote' || row.promoted_at !== null) return;
    try {
      await moveToCandidate(query, row);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      await endRelease(query, row, 'failed', error.message);
      return;
    }
    if (at.bake === undefined) {
      const ended = await endRelease(query, row, 'succeeded', null, { promoted: true });
      await tell(query, 'release.promoted', ended);
      return;
    }
    await setSplit(query, row, 100, step);
    const due = new Date(Date.now() + spanMs(at.bake.for)).toISOString();
    const steps = withRun(row, { due_at: due });
    const baking = await saveRelease(query, row, {
      status: 'baking',
      percent: 100,
      stage: step,
      promoted: true,
      steps,
    });
    await tell(query, 'release.promoted', baking);
  });

/** Ends a release from outside of its steps, unless it has ended. */
async function endFromOutside(
  db: Database,
  id: string,
  status: 'rolled_back' | 'failed',
  reason: string,
): Promise<void> {
  await db.system.transaction(async (query) => {
    const row = await lockRelease(query, id);
    if (row === undefined || isFinishedRelease(row.status)) return;
    const decision = { verdict: 'rolled_back', by: SERVICE, comment: null, numbers: null } as const;
    await onBehalfOf(row, () => endRelease(bindWorkspace(query, row.workspace_id), row, status, reason, { decision }));
  });
}

export const expireRelease = (db: Database, id: string): Promise<void> =>
  endFromOutside(db, id, 'rolled_back', 'its deadline has passed');

/** Handles a workflow that was canceled or terminated: all callers get the stable version again. */
export const failRelease = (db: Database, id: string): Promise<void> =>
  endFromOutside(db, id, 'failed', 'an operator ended its workflow, or its end is missing from a restored database');
