import { bindWorkspace, type Query, type SystemDatabase } from '../../db/database.ts';
import type { EvaluationSummary } from '../../db/entities/evaluation.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import { passes, roundScore, SCORE_EPSILON } from '../../domain/scoring.ts';
import { writeEvent } from '../events/write-event.ts';
import type { RunRef } from './results-store.ts';
import { readSummary } from './sum-up.ts';

interface RunToFinish {
  workspace_id: string;
  prompt_name: string;
  threshold: number;
  baseline_id: string | null;
  examples_total: number;
  evaluators: { name: string }[];
}

/** A run may have a million results. */
const UNHURRIED = { statementTimeoutMs: 0 };

const FIND = {
  text: `select workspace_id, prompt_name, threshold, baseline_id, examples_total, evaluators
         from evaluations where id = $1 and retries = $2 and status = 'running'`,
};
/** The lock keeps two at once from both writing events. */
const TAKE = { text: `${FIND.text} for update` };

/** A baseline that was deleted is none. One that is there stays until the transaction ends. */
const KEEP_BASELINE = { text: 'select id from evaluations where id = $1 and workspace_id = $2 for share' };
const FORGET_BASELINE = { text: 'update evaluations set baseline_id = null where id = $1' };

/** Against the baseline's score of the same example; without a baseline, against the threshold. */
const COMPARE_WITH_BASELINE = {
  text: `update evaluation_results r set baseline_score = b.score,
           regression = r.score < b.score - $3::float8, improvement = r.score > b.score + $3::float8
         from (select example_key, coalesce(score, 0) as score from evaluation_results where evaluation_id = $2) b
         where r.evaluation_id = $1 and b.example_key = r.example_key`,
};
const COMPARE_WITH_THRESHOLD = {
  text: `update evaluation_results set regression = score < $2::float8 - $3::float8, improvement = false
         where evaluation_id = $1`,
};
/** A failed example counts 0, for the comparison too. */
const SCORE_FAILED = {
  text: `update evaluation_results set score = 0 where evaluation_id = $1 and score is null`,
};
const SCORES = {
  text: `select coalesce(sum(round((score * 1000000)::numeric)), 0)::float8 as millionths,
           count(*) filter (where regression)::int as regressions, count(*) filter (where improvement)::int as improvements
         from evaluation_results where evaluation_id = $1`,
};
const SCORES_BY_EVALUATOR = {
  text: `select s.key as name, sum(round(((s.value->>'score')::float8 * 1000000)::numeric))::float8 as millionths
         from evaluation_results r cross join lateral jsonb_each(r.scores) s where r.evaluation_id = $1 group by s.key`,
};
const COMPLETED = evaluationStates.change({ to: 'completed' });
const COMPLETE = {
  text: `update evaluations set ${COMPLETED.set}, status_reason = null, finished_at = now(), score = $2, scores_by_evaluator = $3,
           regressions = $4, improvements = $5, summary = $6 where id = $1 and ${COMPLETED.where}`,
};

interface RunSums {
  score: number;
  scoresByEvaluator: Record<string, number>;
  regressions: number;
  improvements: number;
  summary: EvaluationSummary;
}

/**
 * Sums a run up, compares it with its baseline, marks it as completed and writes its events. What takes long with many examples
 * is done first, without a lock on the run, which pausing and canceling would wait for: its results are final by now. A run
 * that is not `running` stays as it is.
 * @returns whether it has completed, now or before
 */
export async function finishRun(db: SystemDatabase, ref: RunRef): Promise<boolean> {
  const sums = await sumUpResults(db, ref);
  return db.transaction(async (query) => {
    const [run] = sums === undefined ? [] : await query<RunToFinish>(TAKE, [ref.evaluationId, ref.round]);
    if (run === undefined || sums === undefined) return isCompleted(query, ref.evaluationId, ref.round);
    await complete(query, ref.evaluationId, run, sums);
    return true;
  });
}

/** Marks each result against the baseline. Undefined where the run is not `running`. */
function sumUpResults(db: SystemDatabase, { evaluationId, round }: RunRef): Promise<RunSums | undefined> {
  return db.transaction(async (query) => {
    const [run] = await query<RunToFinish>(FIND, [evaluationId, round]);
    if (run === undefined) return undefined;
    await query(SCORE_FAILED, [evaluationId]);
    const [baseline] =
      run.baseline_id === null ? [] : await query<{ id: string }>(KEEP_BASELINE, [run.baseline_id, run.workspace_id]);
    if (baseline === undefined && run.baseline_id !== null) await query(FORGET_BASELINE, [evaluationId]);
    if (baseline !== undefined) await query(COMPARE_WITH_BASELINE, [evaluationId, baseline.id, SCORE_EPSILON]);
    else await query(COMPARE_WITH_THRESHOLD, [evaluationId, run.threshold, SCORE_EPSILON]);
    const [sums] = await query<{ millionths: number; regressions: number; improvements: number }>(SCORES, [
      evaluationId,
    ]);
    if (sums === undefined) throw new Error('An aggregate without a row.');
    const mean = (millionths: number) =>
      run.examples_total === 0 ? 0 : roundScore(millionths / run.examples_total / 1_000_000);
    const score = mean(sums.millionths);
    const byEvaluator = await query<{ name: string; millionths: number }>(SCORES_BY_EVALUATOR, [evaluationId]);
    const scoresByEvaluator = Object.fromEntries(
      run.evaluators.map(({ name }) => [name, mean(byEvaluator.find((row) => row.name === name)?.millionths ?? 0)]),
    );
    const summary = await readSummary(bindWorkspace(query, run.workspace_id), evaluationId);
    return { score, scoresByEvaluator, regressions: sums.regressions, improvements: sums.improvements, summary };
  }, UNHURRIED);
}

async function complete(query: Query, evaluationId: string, run: RunToFinish, sums: RunSums): Promise<void> {
  const { score, scoresByEvaluator, regressions, improvements, summary } = sums;
  await query(COMPLETE, [evaluationId, score, scoresByEvaluator, regressions, improvements, summary]);
  const data = {
    evaluation_id: publicId('evaluation', evaluationId),
    prompt_name: run.prompt_name,
    score,
    examples_evaluated: summary.evaluated,
    regressions,
  };
  const own = bindWorkspace(query, run.workspace_id);
  await writeEvent(own, 'evaluation.completed', data);
  if (!passes(score, run.threshold))
    await writeEvent(own, 'evaluation.regression', { ...data, threshold: run.threshold });
}

/** An earlier try may have got this far without having been able to say so. */
async function isCompleted(query: Query, evaluationId: string, round: number): Promise<boolean> {
  const [row] = await query<{ completed: boolean }>(
    { text: `select status = 'completed' as completed from evaluations where id = $1 and retries = $2` },
    [evaluationId, round],
  );
  return row?.completed ?? false;
}
