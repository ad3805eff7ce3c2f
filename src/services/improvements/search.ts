import type { Query } from '../../db/database.ts';
import { proposalShare, type SearchPlan, type UnitCosts, verdictReserve } from '../../domain/improvements/budget.ts';
import type { CandidateRun, Failure, SearchState, Trial, TrialName } from '../../domain/improvements/improvement.ts';
import { wordingOf } from '../../domain/improvements/parts.ts';
import type { PoolMember } from '../../domain/improvements/search.ts';
import type { SplitPart } from '../../domain/improvements/split.ts';
import type { WorkflowToStart } from '../../temporal/workflows.ts';
import { evaluationWorkflow } from '../evaluations/control/evaluation-workflow.ts';
import { toStored } from '../evaluations/creation/create-evaluation.ts';
import { type Candidate, type ImprovementRow, readCandidates } from './improvements.ts';
import { MAX_REFLECTION_CHARS, reserveFor } from './reflections.ts';
import { cancelTrials, LEAST_BUDGET, readTrial, startTrial, type TrialDeps } from './trials.ts';

/** Inputs of later reflections may be this much longer than the longest so far. */
const GROWTH = 1.5;

export const NEW_RUN: CandidateRun = { purse: null, examples: [], trials: {}, reflections: [], texts: null, shots: [] };

interface TrialSpec {
  part: SplitPart;
  indexes?: readonly number[];
  /** US dollars; null: no limit. Default: the rest of the candidate's purse. */
  maxCost?: number | null;
  /** Default: true. */
  reuses?: boolean;
  /** The candidate whose content is run. Default: the candidate itself. */
  of?: Candidate;
}

/** A search as it is in its transaction: what was found so far, and what it waits for. */
export class Search {
  readonly deps: TrialDeps;
  readonly query: Query;
  /** As stored, except for {@link state}. */
  row: ImprovementRow;
  readonly state: SearchState;
  /** By number. */
  readonly candidates: Map<number, Candidate>;
  /** Candidates to store. */
  readonly changed = new Set<Candidate>();
  /** Workflows that it waits for. */
  readonly children: WorkflowToStart<unknown[]>[] = [];
  /** Evaluations that were ended, whose workflows are signaled after the transaction. */
  readonly ended: { id: string; retries: number }[] = [];
  /** Why it cannot continue until someone retries it. */
  failure: Failure | undefined;

  private constructor(deps: TrialDeps, query: Query, row: ImprovementRow, candidates: Map<number, Candidate>) {
    this.deps = deps;
    this.query = query;
    this.row = row;
    this.state = structuredClone(row.state);
    this.candidates = candidates;
  }

  static async read(deps: TrialDeps, query: Query, row: ImprovementRow): Promise<Search> {
    const rows = await readCandidates(query, row.id);
    return new Search(
      deps,
      query,
      row,
      new Map(rows.map(({ improvement_id: _id, bytes: _bytes, ...candidate }) => [candidate.number, candidate])),
    );
  }

  get base(): Candidate {
    const base = this.candidates.get(0);
    if (base === undefined) throw new Error('An improvement without its base.');
    return base;
  }

  /** Whether something new can be started. */
  get mayStart(): boolean {
    return this.row.status === 'running' && this.failure === undefined;
  }

  /** Whether an evaluation or execution, a UUID, started before the last retry: its failure no longer counts. */
  isFromBeforeRetry(id: string): boolean {
    return id !== '' && id < (this.state.retried ?? '');
  }

  get maxCost(): number | null {
    return this.row.max_cost === null ? null : Number(this.row.max_cost);
  }

  /** The sizes of the search. */
  get plan(): SearchPlan {
    const { split, request } = this.row;
    return {
      train: split.train.length,
      check: split.check.length,
      heldOut: split.held_out.length,
      maxProposals: request.max_proposals,
      parallel: request.parallel,
      minibatch: request.minibatch,
    };
  }

  get costs(): UnitCosts {
    const { dearest, reflectionChars } = this.state;
    const chars =
      reflectionChars === 0 ? MAX_REFLECTION_CHARS : Math.min(MAX_REFLECTION_CHARS, GROWTH * reflectionChars);
    return { example: dearest, reflection: this.reserveOf(chars) };
  }

  /** What each of so many proposals can spend; null: without a limit. Undefined: too little is left. */
  shareOf(proposals: number): number | null | undefined {
    const { plan, costs } = this;
    const reserved = verdictReserve(plan.heldOut, costs.example);
    return proposalShare({ maxCost: this.maxCost, spent: this.state.spent.cost, reserved, proposals }, plan, costs);
  }

  /** What a reflection with so many characters can cost at most: US dollars. */
  reserveOf(chars: number): number {
    return reserveFor(this.deps.models, this.row.request, chars) ?? 0;
  }

  /** What is left of a candidate's purse: US dollars; null: no limit. */
  leftOf({ run }: Candidate): number | null {
    if (run.purse === null) return null;
    const trials = Object.values(run.trials).reduce((sum, { cost }) => sum + cost, 0);
    return run.purse - trials - run.reflections.reduce((sum, { cost, reserved }) => sum + (cost ?? reserved), 0);
  }

  /** The candidates that were checked, and the base. */
  get pool(): PoolMember[] {
    return [...this.candidates.values()].flatMap(({ number, content, status, run }) => {
      const scores = run.trials.check?.state === 'done' ? run.trials.check.scores : undefined;
      if (scores === undefined || (number > 0 && status !== 'checked' && status !== 'finalist')) return [];
      return [{ number, scores, length: content === null ? 0 : wordingOf({ ...this.row.base, ...content }).length }];
    });
  }

  change(candidate: Candidate, changes: Partial<Candidate> = {}): void {
    Object.assign(candidate, changes);
    this.changed.add(candidate);
  }

  /** Has the broken runs of a candidate started again when the search continues: their paid responses are reused. */
  forgetBroken(candidate: Candidate): void {
    const { run } = candidate;
    for (const [name, { state, cost }] of Object.entries(run.trials)) {
      if (state !== 'broken') continue;
      Reflect.deleteProperty(run.trials, name);
      if (run.purse !== null) run.purse -= cost;
    }
    this.change(candidate);
  }

  /** Runs a candidate over examples, once. @returns the outcome; undefined while it is waited for */
  async trial(candidate: Candidate, name: TrialName, spec: TrialSpec): Promise<Trial | undefined> {
    const { trials } = candidate.run;
    const earlier = trials[name];
    if (earlier?.state === 'broken' && this.isFromBeforeRetry(earlier.evaluation)) this.forgetBroken(candidate);
    const { part, indexes, maxCost = this.leftOf(candidate), reuses = true, of = candidate } = spec;
    const known = trials[name];
    if (known !== undefined && known.state !== 'running') return known;
    if (known === undefined && !this.mayStart) return undefined;
    if (known === undefined && maxCost !== null && maxCost < LEAST_BUDGET) {
      this.state.outOfMoney = true;
      return { evaluation: '', state: 'broken', scores: [], cost: 0, calls: 0, reused: 0 };
    }
    const trial =
      known ??
      (await startTrial(this.deps, this.query, this.row, of, { part, ...(indexes && { indexes }), maxCost, reuses }));
    trials[name] = trial;
    this.changed.add(candidate);
    const found = await readTrial(this.query, trial);
    if (!('waitsFor' in found)) {
      const settled = this.#settle(candidate, name, found);
      const runsAgain = settled.state === 'broken' && this.isFromBeforeRetry(settled.evaluation);
      return runsAgain ? this.trial(candidate, name, spec) : settled;
    }
    if (!found.isOutOfBudget) {
      this.children.push(evaluationWorkflow(toStored(found.waitsFor)));
      return undefined;
    }
    this.state.outOfMoney = true;
    this.ended.push(...(await cancelTrials(this.query, this.row.id, [trial.evaluation])));
    const canceled = await readTrial(this.query, trial);
    return 'waitsFor' in canceled ? undefined : this.#settle(candidate, name, canceled);
  }

  #settle(candidate: Candidate, name: TrialName, { trial, savings }: { trial: Trial; savings: number }): Trial {
    const { spent } = this.state;
    candidate.run.trials[name] = trial;
    spent.cost += trial.cost;
    spent.calls += trial.calls;
    spent.reused += trial.reused;
    spent.savings += savings;
    const examples = trial.calls + trial.reused;
    if (trial.state === 'done' && examples > 0)
      this.state.dearest = Math.max(this.state.dearest, (trial.cost + savings) / examples);
    return trial;
  }
}
