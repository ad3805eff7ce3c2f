import type { Database, Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { ApiError } from '../../domain/errors.ts';
import { ENDED_EVALUATION, type EvaluationStatus } from '../../domain/evaluations/evaluation-states.ts';
import { newId, parsePublicId, publicId } from '../../domain/ids.ts';
import { asJsonValue, type StoredStep } from '../../domain/releases/release.ts';
import { EvaluatorList } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { startEvaluationWorkflow } from '../evaluations/control/evaluation-workflow.ts';
import { createEvaluation, toStored } from '../evaluations/creation/create-evaluation.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations/evaluations.ts';
import { compareEvaluations } from '../evaluations/results/compare-evaluations.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { endRelease, goOn, SERVICE, saveRelease, withRun } from './change-release.ts';
import { atStep } from './release-steps.ts';
import type { ReleaseRow } from './releases.ts';

export interface EvaluateDeps {
  db: Database;
  models: Models;
  quotas: Quotas;
  starter: WorkflowStarter;
}

type EvaluateStep = Extract<StoredStep, { type: 'evaluate' }>;

/** The evaluations of a step: UUIDs. */
interface Evaluations {
  candidate: string;
  /** Undefined if nothing is compared. */
  stable: string | undefined;
}

const CONCURRENCY = 20;

const comparesWithStable = ({ require, max_regressions: max }: EvaluateStep) =>
  require !== 'threshold' || max !== undefined;

function evaluationsOf({ numbers }: EvaluateStep): Evaluations | undefined {
  if (typeof numbers !== 'object' || numbers === null || Array.isArray(numbers)) return undefined;
  const idOf = (value: unknown) => (typeof value === 'string' ? parsePublicId('evaluation', value) : undefined);
  const candidate = idOf(numbers['evaluation_id']);
  return candidate === undefined ? undefined : { candidate, stable: idOf(numbers['baseline_evaluation_id']) };
}

const presentIds = ({ candidate, stable }: Evaluations) => ({
  evaluation_id: publicId('evaluation', candidate),
  baseline_evaluation_id: stable === undefined ? null : publicId('evaluation', stable),
});

/** Stores the evaluations of a step, which run whatever happens from then on. */
async function storeEvaluations(
  { models, quotas }: EvaluateDeps,
  query: Query,
  row: ReleaseRow,
  step: EvaluateStep,
): Promise<Evaluations> {
  const store = async (version: number): Promise<string> => {
    const id = newId();
    await createEvaluation(
      query,
      row.workspace_id,
      { models, quotas },
      {
        id,
        promptName: row.prompt_name,
        version,
        dataset: step.dataset,
        evaluators: EvaluatorList.parse(step.evaluators),
        threshold: step.threshold ?? 0,
        baseline: null,
        concurrency: CONCURRENCY,
        maxCost: step.max_cost,
        metadata: { release: publicId('release', row.id) },
      },
    );
    await query((db) => db.updateTable('evaluations').set({ accepted_at: now }).where('id', '=', id));
    return id;
  };
  const stable = comparesWithStable(step) ? await store(row.stable_version) : undefined;
  const candidate = await store(row.candidate_version);
  await quotas.require(query, 'evaluations');
  const stored = { candidate, stable };
  await saveRelease(query, row, { steps: withRun(row, { numbers: presentIds(stored) }), evaluationId: candidate });
  return stored;
}

const hasEnded = (status: EvaluationStatus) => (ENDED_EVALUATION as readonly EvaluationStatus[]).includes(status);

/**
 * Evaluates the candidate, and the stable version if both are compared, and decides once both have ended.
 * @returns what is still running, in words; null if the step is over
 */
export async function evaluateStep(deps: EvaluateDeps, id: string, index: number): Promise<string | null> {
  const found: { row: ReleaseRow; step: EvaluateStep; evaluations: Evaluations }[] = [];
  try {
    await atStep(deps.db, id, index, async (query, row, step) => {
      if (step.type !== 'evaluate') return;
      found.push({ row, step, evaluations: evaluationsOf(step) ?? (await storeEvaluations(deps, query, row, step)) });
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Other evaluations will end at some time; people have to fix any other error.
    if (error.code === 'quota_exceeded') return `waits: ${error.message}`;
    await failStep(deps.db, id, index, `the evaluation could not be started: ${error.message}`);
    return null;
  }
  const [at] = found;
  if (at === undefined) return null;
  const { row, step, evaluations } = at;
  const own = deps.db.workspace(row.workspace_id);
  const runs: EvaluationRow[] = [];
  for (const evaluation of [evaluations.candidate, evaluations.stable]) {
    if (evaluation === undefined) continue;
    const run = await find(own, evaluation);
    if (run === undefined) {
      await failStep(deps.db, id, index, `${publicId('evaluation', evaluation)} was deleted`);
      return null;
    }
    if (run.status === 'scheduled') await startEvaluationWorkflow(deps.starter, toStored(run));
    runs.push(run);
  }
  const unfinished = runs.filter(({ status }) => !hasEnded(status));
  if (unfinished.length > 0)
    return unfinished.map((run) => `${publicId('evaluation', run.id)} is ${run.status}`).join(', ');
  const broken = runs.find(({ status }) => status !== 'completed');
  if (broken === undefined) await decide(deps.db, own, row, index, step, evaluations);
  else await failStep(deps.db, id, index, `${publicId('evaluation', broken.id)} has ended as ${broken.status}`);
  return null;
}

const find = (own: WorkspaceDatabase, id: string): Promise<EvaluationRow | undefined> =>
  getEvaluation(own.query, id).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  });

const failStep = (db: Database, id: string, index: number, reason: string): Promise<void> =>
  atStep(db, id, index, (query, row) => endRelease(query, row, 'failed', reason));

async function decide(
  db: Database,
  own: WorkspaceDatabase,
  row: ReleaseRow,
  index: number,
  step: EvaluateStep,
  evaluations: Evaluations,
): Promise<void> {
  const candidate = await getEvaluation(own.query, evaluations.candidate);
  const compared =
    evaluations.stable === undefined
      ? undefined
      : await compareEvaluations(own, evaluations.stable, evaluations.candidate);
  const score = candidate.score === null ? null : Number(candidate.score);
  const regressions = compared?.regressions.total ?? null;
  const faults: string[] = [];
  if (step.require === 'threshold' && (score ?? 0) < (step.threshold ?? 0))
    faults.push(score === null ? 'no example has a score' : `the score ${score} is below ${step.threshold}`);
  if (step.require === 'not_worse' && compared?.verdict === 'regression') faults.push(`it is worse: ${compared.note}`);
  const isToldOfWorse = step.require === 'not_worse' || step.max_regressions !== undefined;
  if (isToldOfWorse && compared !== undefined && compared.withheld !== null)
    faults.push(`it cannot be determined whether it is worse: ${compared.note}`);
  if (step.require === 'better' && compared?.verdict !== 'improvement')
    faults.push(`it is not better: ${compared?.note ?? 'nothing was compared'}`);
  if (step.max_regressions !== undefined && (regressions ?? 0) > step.max_regressions)
    faults.push(`${regressions} examples score lower; ${step.max_regressions} may`);
  const numbers = asJsonValue({
    ...presentIds(evaluations),
    score,
    baseline_score: compared?.score_a ?? null,
    difference: compared?.difference ?? null,
    interval: compared?.interval ?? null,
    p_value: compared?.p_value ?? null,
    verdict: compared?.verdict ?? null,
    withheld: compared?.withheld ?? null,
    note: compared?.note ?? null,
    regressions,
    improvements: compared?.improvements.total ?? null,
  });
  await atStep(db, row.id, index, async (query, locked) => {
    const verdict = faults.length === 0 ? 'passed' : 'failed';
    const decision = { verdict, by: SERVICE, comment: null, numbers } as const;
    if (verdict === 'passed') return goOn(query, locked, { state: 'passed', numbers }, { decision });
    const steps = withRun(locked, { numbers });
    return endRelease(query, locked, 'rolled_back', `the evaluation: ${faults.join('; ')}`, { decision, steps });
  });
}
