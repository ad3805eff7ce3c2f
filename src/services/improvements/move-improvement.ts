import type { Logger } from 'pino';
import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { StopReason } from '../../domain/improvements/candidate.ts';
import type { Failure } from '../../domain/improvements/improvement.ts';
import { wordingOf } from '../../domain/improvements/parts.ts';
import { peopleAgreement } from '../../domain/improvements/people-agreement.ts';
import { chooseFinalist, meanScore, stopReason } from '../../domain/improvements/search.ts';
import { keysOf } from '../../domain/improvements/split.ts';
import { NO_CANDIDATE, type Verdict, verdictOf } from '../../domain/improvements/verdict.ts';
import { evaluationWorkflowId } from '../../temporal/names.ts';
import { leaveToReconciliation, startOptions, tellChanged, type WorkflowStarter } from '../../temporal/workflows.ts';
import { compareEvaluations } from '../evaluations/results/compare-evaluations.ts';
import { completeImprovement, endWithError, failImprovement, pauseForMoney } from './end-improvement.ts';
import {
  type Candidate,
  type ImprovementRow,
  lockImprovement,
  noteInLedger,
  readLedger,
  saveCandidates,
  saveImprovement,
} from './improvements.ts';
import { advance, proposeRound } from './propose.ts';
import { Search } from './search.ts';
import { cancelTrials, readExamplesAt, readJudged, type TrialDeps } from './trials.ts';

/** The search fails after so many reflections in a row without a usable answer. */
const MAX_UNREADABLE = 8;

export interface MoveDeps extends TrialDeps {
  db: Database;
  starter: WorkflowStarter;
  log: Logger;
}

/** A workflow for which an improvement waits, as the options of a child. */
export type ChildToStart = { type: string } & ReturnType<typeof startOptions>;

/** What the workflow knows of its improvement. Texts are for operators. */
export interface ImprovementView {
  state: 'at work' | 'paused' | 'ended';
  /** What it waits for. */
  children: ChildToStart[];
  /** Markdown. */
  details: string;
  /** A few words. */
  summary: string;
}

/** Both runs of the verdict, which are to be compared: UUIDs. */
interface ToCompare {
  base: Candidate;
  finalist: Candidate;
}

/**
 * Takes a search as far as it gets without a model, in one transaction: reads what has ended, and stores what comes next. Repeating
 * it changes nothing.
 * @returns null if the improvement is gone
 */
export async function moveImprovement(deps: MoveDeps, id: string): Promise<ImprovementView | null> {
  let moved: { search: Search; compare: ToCompare | undefined } | undefined;
  try {
    moved = await deps.db.system.transaction(async (query) => {
      const row = await lockImprovement(query, id);
      if (row === undefined) return undefined;
      const own = bindWorkspace(query, row.workspace_id);
      await own((db) =>
        db
          .updateTable('improvements')
          .set({ signal_pending: false })
          .where('id', '=', id)
          .where('signal_pending', '=', true),
      );
      const search = await Search.read(deps, own, row);
      const compare = row.status === 'running' || row.status === 'paused' ? await move(search) : undefined;
      return { search, compare };
    });
    if (moved?.compare !== undefined) await judge(deps, moved.search, moved.compare);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const summary = `waits: ${error.message}`;
    // Others will end at some time; people have to fix any other error.
    if (error.code === 'quota_exceeded' || error.code === 'temporarily_unavailable') {
      await noteWait(deps.db, id, summary);
      return { state: 'at work', children: [], details: summary, summary };
    }
    await endWithError(deps.db, id, { code: error.code, message: error.message });
    return { state: 'ended', children: [], details: error.message, summary: error.message };
  }
  if (moved === undefined) return null;
  const { search, compare } = moved;
  for (const { id: evaluation, retries } of search.ended)
    await tellChanged(deps.starter, evaluationWorkflowId(evaluation, retries)).catch(
      leaveToReconciliation(deps.log, { evaluation_id: evaluation }),
    );
  // It has its verdict now.
  if (compare !== undefined) return moveImprovement(deps, id);
  return viewOf(deps.starter, search);
}

/** Shows in the record why a running search waits, until its next step. */
const noteWait = (db: Database, id: string, reason: string | null) =>
  db.system.query((system) =>
    system
      .updateTable('improvements')
      .set({ status_reason: reason })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .where('status_reason', 'is distinct from', reason),
  );

async function move(search: Search): Promise<ToCompare | undefined> {
  const { row } = search;
  if (row.status === 'running' && row.status_reason !== null)
    search.row = await saveImprovement(search.query, row, { status_reason: null });
  const before = search.row;
  let compare: ToCompare | undefined;
  if (search.row.phase === 'base') await runBase(search);
  if (search.row.phase === 'search') await runRounds(search);
  if (search.row.phase === 'verdict' && search.row.status !== 'completed') compare = await runVerdict(search);
  await saveCandidates(search.query, before.id, [...search.changed]);
  if (JSON.stringify(search.state) !== JSON.stringify(before.state))
    await saveImprovement(search.query, search.row, { state: search.state });
  return compare;
}

const set = async (search: Search, changes: Parameters<typeof saveImprovement>[2]): Promise<void> => {
  search.row = await saveImprovement(search.query, search.row, { ...changes, state: search.state });
};

/** A run of the base or of the verdict did not complete: without it there is no result. */
async function giveUp(search: Search, candidates: readonly Candidate[]): Promise<void> {
  const [error] = candidates.flatMap(({ run }) => Object.values(run.trials).flatMap((trial) => trial.error ?? []));
  for (const candidate of candidates) search.forgetBroken(candidate);
  if (search.state.outOfMoney) return pauseForMoney(search);
  search.row = await failImprovement(search.query, search.row, error ?? EVALUATION_ENDED);
}

const EVALUATION_ENDED: Failure = {
  code: 'evaluation_ended',
  message: 'An evaluation that the result depends on was ended or deleted. Retry the improvement to run it again.',
};

/** The base once over the train part, and twice over the check part: the difference between these is noise. */
async function runBase(search: Search): Promise<void> {
  const { base, plan, maxCost, state } = search;
  const runs = plan.train + 2 * plan.check;
  const capOf = (examples: number) => (maxCost === null ? null : ((maxCost - state.spent.cost) * examples) / runs);
  const train = await search.trial(base, 'train', { part: 'train', maxCost: capOf(plan.train) });
  const check = await search.trial(base, 'check', { part: 'check', maxCost: capOf(plan.check) });
  // After the first one, which may reuse responses, and would reuse those of this one.
  const again =
    check?.state === 'done'
      ? await search.trial(base, 'again', { part: 'check', maxCost: capOf(plan.check), reuses: false })
      : undefined;
  if ([train, check, again].some((trial) => trial?.state === 'broken')) return giveUp(search, [base]);
  if (train === undefined || check === undefined || again === undefined) return;
  const mean = meanScore(check.scores);
  state.noise = Math.abs(mean - meanScore(again.scores));
  state.best = { number: 0, check: mean };
  state.curve = [{ proposal: 0, cost: state.spent.cost, check: mean }];
  await set(search, { phase: 'search' });
}

async function runRounds(search: Search): Promise<void> {
  for (;;) {
    const open = () => [...search.candidates.values()].filter(({ status }) => status === 'proposed');
    const asked = askedToStop(search.row);
    if (asked !== undefined) {
      for (const candidate of open())
        search.change(candidate, {
          status: 'skipped',
          reject: { code: 'not_measured', message: 'the search was ended' },
        });
      search.ended.push(...(await cancelTrials(search.query, search.row.id)));
      return endSearch(search, asked);
    }
    if (open().length === 0) {
      const reason = nextRound(search);
      if (reason !== undefined) return endSearch(search, reason);
      if (!search.mayStart || open().length === 0) return;
      await set(search, { round: search.row.round + 1 });
    }
    for (const candidate of open()) await advance(search, candidate);
    if (open().length === 0) applyRound(search);
    const failure = search.failure ?? (open().length === 0 ? failureOfReflections(search) : undefined);
    if (failure !== undefined) search.row = await failImprovement(search.query, search.row, failure);
    if (failure !== undefined || open().length > 0) return;
  }
}

const askedToStop = ({ stop_reason: reason, deadline }: ImprovementRow): StopReason | undefined => {
  if (reason === 'finished') return 'finished';
  return deadline !== null && deadline.getTime() <= Date.now() ? 'deadline' : undefined;
};

/** Proposes the next round, unless the search is paused. @returns why there is none */
function nextRound(search: Search): StopReason | undefined {
  const { state, row, candidates } = search;
  const { max_proposals: maxProposals, patience, parallel } = row.request;
  const made = candidates.size - 1;
  let count = Math.min(parallel, maxProposals - made);
  let share = count > 0 ? search.shareOf(count) : null;
  while (share === undefined && count > 1) {
    count -= 1;
    share = search.shareOf(count);
  }
  const reason = stopReason({
    proposals: made,
    best: { number: state.best.number, score: state.best.check },
    maxProposals,
    patience,
    isAffordable: share !== undefined && !state.outOfMoney,
    isFinished: false,
    isPastDeadline: false,
  });
  if (reason === undefined && search.mayStart) proposeRound(search, count, share ?? null);
  return reason;
}

/** The proposals of a round change the state in their order, whichever was first. */
function applyRound({ candidates, row, state }: Search): void {
  for (const { number, round, status, run } of candidates.values()) {
    if (round !== row.round || status !== 'checked') continue;
    const check = meanScore(run.trials.check?.scores ?? []);
    if (check > state.best.check) state.best = { number, check };
  }
  state.curve.push({ proposal: candidates.size - 1, cost: state.spent.cost, check: state.best.check });
}

/** Whether so many reflections in a row had no usable answer that the next ones would have none either. */
function failureOfReflections({ candidates, row }: Search): Failure | undefined {
  const last = [...candidates.values()].filter(({ run }) => run.reflections.length > 0).slice(-MAX_UNREADABLE);
  if (last.length < MAX_UNREADABLE || last.some(({ reject }) => reject?.code !== 'unreadable')) return undefined;
  const message = `The last ${MAX_UNREADABLE} reflections by ${row.request.reflection.model} had no usable answer: ${last.at(-1)?.reject?.message}`;
  return { code: 'reflection_failed', message };
}

/** What to say if nothing is to be tested. */
function noCandidate({ candidates }: Search): Verdict {
  const [, ...proposals] = candidates.values();
  const reject = proposals.findLast((each) => each.reject !== null)?.reject;
  if (reject == null || proposals.some(({ run }) => run.trials.minibatch !== undefined)) return NO_CANDIDATE;
  const note = `None of ${proposals.length} proposals had a text that could be measured, so nothing was tested. The last reason: ${reject.message}.`;
  return { ...NO_CANDIDATE, note };
}

/** Chooses the finalist, and looks at the held-out examples from then on; or there is nothing to test. */
async function endSearch(search: Search, reason: StopReason): Promise<void> {
  const { query, row, state, candidates, pool } = search;
  const chosen = chooseFinalist(pool, search.base.run.trials.again?.scores ?? []);
  const finalist = chosen && candidates.get(chosen.number);
  await set(search, { stop_reason: reason });
  if (finalist === undefined) {
    search.row = await completeImprovement(query, search.row, noCandidate(search));
    return;
  }
  search.change(finalist, { status: 'finalist' });
  await lockInWorkspace(query, `looks of ${row.prompt_name}`);
  const keys = keysOf(await readExamplesAt(query, row, row.split.held_out));
  const ledger = await readLedger(query, row.prompt_name, keys);
  await noteInLedger(query, row.prompt_name, keys, 'look');
  state.look = 1 + Math.max(0, ...[...ledger.values()].map(({ looks }) => looks));
  state.finalist = finalist.number;
  state.outOfMoney = false;
  await set(search, { phase: 'verdict' });
}

const meanCost = ({ run }: Candidate): number => {
  const { check } = run.trials;
  return check === undefined ? 0 : check.cost / Math.max(1, check.calls);
};

async function runVerdict(search: Search): Promise<ToCompare | undefined> {
  const { base, state, candidates, maxCost } = search;
  const finalist = candidates.get(state.finalist ?? -1);
  if (finalist === undefined) throw new Error('A verdict without its finalist.');
  const left = maxCost === null ? null : maxCost - state.spent.cost;
  const started = [base, finalist].filter(({ run }) => run.trials.held_out !== undefined);
  const [ofBase, ofFinalist] = [meanCost(base), meanCost(finalist)];
  const share = ofBase > 0 && ofFinalist > 0 ? ofBase / (ofBase + ofFinalist) : 0.5;
  // If one of them is run again, after the other has ended: with all that is left.
  const capOf = (part: number) => (left === null ? null : started.length === 0 ? left * part : left);
  const run = async (one: Candidate, other: Candidate, part: number) => {
    const isSecond = started.includes(other) && !started.includes(one);
    if (isSecond && other.run.trials.held_out?.state === 'running') return undefined;
    return search.trial(one, 'held_out', { part: 'held_out', maxCost: capOf(part) });
  };
  const a = await run(base, finalist, share);
  const b = await run(finalist, base, 1 - share);
  if (a?.state === 'broken' || b?.state === 'broken') {
    await giveUp(search, [base, finalist]);
    return undefined;
  }
  return a === undefined || b === undefined ? undefined : { base, finalist };
}

/** Compares both runs over the held-out examples, and ends the improvement with the verdict. */
async function judge({ db }: MoveDeps, search: Search, { base, finalist }: ToCompare): Promise<void> {
  const { row, state } = search;
  const own = db.workspace(row.workspace_id);
  const sideOf = ({ content, run }: Candidate) => {
    const { evaluation = '', cost = 0, calls = 0 } = run.trials.held_out ?? {};
    const length = content === null ? 0 : wordingOf({ ...row.base, ...content }).length;
    return {
      id: evaluation,
      evaluationId: publicId('evaluation', evaluation),
      costPerCall: calls === 0 ? null : cost / calls,
      length,
    };
  };
  const [a, b] = [sideOf(base), sideOf(finalist)];
  const { check, again } = base.run.trials;
  const verdict = verdictOf({
    comparison: await compareEvaluations(own, a.id, b.id),
    look: state.look ?? 1,
    candidate: finalist.number,
    base: a,
    finalist: b,
    agreement: peopleAgreement(await readJudged(own.query, a.id, b.id)),
    checkGain:
      meanScore(finalist.run.trials.check?.scores ?? []) -
      (meanScore(check?.scores ?? []) + meanScore(again?.scores ?? [])) / 2,
  });
  await own.transaction(async (query: Query) => {
    const locked = await lockImprovement(query, row.id);
    if (locked?.status === 'running' || locked?.status === 'paused') await completeImprovement(query, locked, verdict);
  });
}

const dollars = (usd: number) => `$${usd.toFixed(4)}`;

function viewOf({ taskQueues }: WorkflowStarter, search: Search): ImprovementView {
  const { row, state, candidates, children } = search;
  const { status, phase, round } = row;
  const summary = `${status}, ${phase === 'search' ? `round ${round}` : phase}`;
  const why = row.error?.message ?? row.status_reason;
  const of = (wanted: Candidate['status']) => [...candidates.values()].filter((each) => each.status === wanted).length;
  const lines = [
    `**${row.prompt_name}** version ${row.prompt_version}, on ${row.dataset_name} version ${row.dataset_version}`,
    `**${summary}**${why === null ? '' : `: ${why}`}`,
    `${candidates.size - 1} proposals: ${of('checked') + of('finalist')} checked, ${of('tried')} no better, ${of('rejected')} rejected, ${of('skipped')} skipped`,
    `best so far: candidate ${state.best.number} with ${state.best.check.toFixed(3)} on the check part`,
    `spent ${dollars(state.spent.cost)}${row.max_cost === null ? '' : ` of $${row.max_cost}`} on ${state.spent.calls} calls and ${state.spent.reflections} reflections`,
    ...(row.verdict === null ? [] : [`${row.verdict.result}: ${row.verdict.note}`]),
  ];
  const isEnded = status !== 'running' && status !== 'paused';
  return {
    state: isEnded ? 'ended' : status === 'paused' ? 'paused' : 'at work',
    children: isEnded ? [] : children.map(({ type, ...workflow }) => ({ type, ...startOptions(taskQueues, workflow) })),
    details: lines.join('\n\n'),
    summary,
  };
}
