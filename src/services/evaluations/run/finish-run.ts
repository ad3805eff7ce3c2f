import { type InferResult, sql } from 'kysely';
import { bindWorkspace, type Query, type SystemDatabase } from '../../../db/database.ts';
import type { EvaluationSummary } from '../../../db/entities/evaluation.ts';
import { now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson, type Builder } from '../../../db/statement.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { passes, roundScore, SCORE_EPSILON } from '../../../domain/evaluations/scoring.ts';
import { publicId } from '../../../domain/ids.ts';
import { writeEvent } from '../../events/write-event.ts';
import type { RunRef } from '../creation/run-spec.ts';
import { type SharedScore, sharedScoreOf, sharedScoreSql } from '../results/shared-score.ts';
import { hasOpenExamples } from './open-examples.ts';
import { readSummary } from './read-summary.ts';
import { bytesOfResults } from './sum-up.ts';

/** A run may have a million results. */
const UNHURRIED = { statementTimeoutMs: 0 };

const selectRun = (db: Builder, { evaluationId, round }: RunRef) =>
  db
    .selectFrom('evaluations')
    .select([
      'workspace_id',
      'improvement_id',
      'prompt_name',
      'threshold',
      'example_threshold',
      'baseline_id',
      'examples_total',
      'evaluators',
    ])
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where('status', '=', 'running');

type RunToFinish = InferResult<ReturnType<typeof selectRun>>[number];

interface RunSums {
  /** Null if no example has a score. */
  score: number | null;
  /** Omits evaluators without any score. */
  scoresByEvaluator: Record<string, number>;
  regressions: number;
  improvements: number;
  summary: EvaluationSummary;
}

/**
 * The outcome of finishing a run: it `completed` just now, was `completed before`, or was paused or ended in the meantime and is
 * `left` unchanged.
 */
export type FinishedRun = 'completed' | 'completed before' | 'left' | 'incomplete';

/**
 * Sums up a run, compares it with its baseline, marks it as completed and writes its events. The slow part comes first and without a lock
 * on the run, which would block pausing and canceling: the results are final by now. A run that is not `running` is left unchanged.
 * @returns the outcome; `incomplete`: nothing was done because examples have no result. Their batches may have ended before the database
 * was restored from an earlier time.
 */
export async function finishRun(db: SystemDatabase, ref: RunRef): Promise<FinishedRun> {
  if (await hasOpenExamples(db.query, ref)) return 'incomplete';
  const sums = await sumUpResults(db, ref);
  return db.transaction(async (query) => {
    if (sums === undefined) return leftAs(query, ref);
    // The lock prevents two concurrent calls from both writing events.
    const [run] = await query((tables) => selectRun(tables, ref).forUpdate());
    if (run === undefined) return leftAs(query, ref);
    await complete(query, ref.evaluationId, run, sums);
    return 'completed';
  });
}

/** Marks each result against the baseline. Undefined if the run is not `running`. */
function sumUpResults(db: SystemDatabase, ref: RunRef): Promise<RunSums | undefined> {
  const { evaluationId } = ref;
  return db.transaction(async (query) => {
    const [run] = await query((tables) => selectRun(tables, ref));
    if (run === undefined) return undefined;
    // A failed example counts 0, also in the comparison.
    await query((tables) =>
      tables
        .updateTable('evaluation_results')
        .set({ score: 0 })
        .where('evaluation_id', '=', evaluationId)
        .where('status', '=', 'failed')
        .where('score', 'is', null),
    );
    const baseline = await keepBaseline(query, evaluationId, run);
    if (baseline === undefined) await compareWithThreshold(query, evaluationId, run.threshold);
    else await compareWithBaseline(query, evaluationId, baseline);
    const [sums] = await query((tables) =>
      tables
        .selectFrom('evaluation_results')
        .select([
          sql<number>`coalesce(sum(round((score * 1000000)::numeric)), 0)::float8`.as('millionths'),
          sql<number>`count(score)::int`.as('scored'),
          sql<number>`count(*) filter (where regression)::int`.as('regressions'),
          sql<number>`count(*) filter (where improvement)::int`.as('improvements'),
        ])
        .where('evaluation_id', '=', evaluationId),
    );
    if (sums === undefined) throw new Error('An aggregate without a row.');
    const byEvaluator = await sumByEvaluator(query, evaluationId);
    const { millionths, scored, regressions, improvements } = sums;
    const summary = await readSummary(bindWorkspace(query, run.workspace_id), evaluationId);
    const isEmpty = run.examples_total === 0;
    const scoresByEvaluator = Object.fromEntries(
      run.evaluators.flatMap(({ name }): [string, number][] => {
        const own = byEvaluator.find((row) => row.name === name);
        const mean = isEmpty ? 0 : meanOf(own?.millionths ?? 0, (own?.scored ?? 0) + summary.failed);
        return mean === null ? [] : [[name, mean]];
      }),
    );
    const score = isEmpty ? 0 : meanOf(millionths, scored);
    return { score, scoresByEvaluator, regressions, improvements, summary };
  }, UNHURRIED);
}

const meanOf = (millionths: number, count: number) => (count === 0 ? null : roundScore(millionths / count / 1_000_000));

/** A baseline, and how example scores are compared with it. Null if the stored scores are compared. */
interface Baseline {
  id: string;
  shared: SharedScore | null;
}

/**
 * Locks the baseline until the transaction ends. A baseline that was deleted, or shares no evaluator with the run, is dropped.
 * @returns undefined if there is no baseline
 */
async function keepBaseline(query: Query, evaluationId: string, run: RunToFinish): Promise<Baseline | undefined> {
  const { baseline_id: baselineId, workspace_id: workspaceId } = run;
  if (baselineId === null) return undefined;
  const [baseline] = await query((db) =>
    db
      .selectFrom('evaluations')
      .select(['id', 'evaluators', 'example_threshold'])
      .where('id', '=', baselineId)
      .where('workspace_id', '=', workspaceId)
      .forShare(),
  );
  const shared = baseline && sharedScoreOf(baseline, run);
  if (baseline !== undefined && shared !== undefined) return { id: baseline.id, shared };
  await query((db) => db.updateTable('evaluations').set({ baseline_id: null }).where('id', '=', evaluationId));
  return undefined;
}

/**
 * Compares with the baseline's score of the same example. An example without a score in one of the runs gets no mark. If the runs
 * have different evaluators, only the shared ones count; the baseline's score is then not stored, because it would not be
 * comparable with the score of the example.
 */
async function compareWithBaseline(query: Query, evaluationId: string, { id, shared }: Baseline): Promise<void> {
  const scoreOf = (table: 'r' | 'b') => {
    const score = shared === null ? sql.ref(`${table}.score`) : sharedScoreSql(`${table}.scores`, shared);
    return sql<number | null>`(case when ${sql.ref(`${table}.status`)} = 'failed' then 0 else ${score} end)`;
  };
  await query((db) =>
    db
      .updateTable('evaluation_results as r')
      .from((eb) =>
        eb
          .selectFrom('evaluation_results')
          .select(['example_key', 'status', 'score', 'scores'])
          .where('evaluation_id', '=', id)
          .as('b'),
      )
      .set({
        baseline_score: shared === null ? scoreOf('b') : null,
        regression: sql<boolean>`${scoreOf('r')} < ${scoreOf('b')} - ${SCORE_EPSILON}::float8`,
        improvement: sql<boolean>`${scoreOf('r')} > ${scoreOf('b')} + ${SCORE_EPSILON}::float8`,
      })
      .where('r.evaluation_id', '=', evaluationId)
      .whereRef('b.example_key', '=', 'r.example_key'),
  );
}

/**
 * Marks results below the threshold, and removes marks of earlier rounds. A missing mark is read as `false`, so that most rows
 * need no update.
 */
async function compareWithThreshold(query: Query, evaluationId: string, threshold: number): Promise<void> {
  const isBelow = sql<boolean>`score < ${threshold}::float8 - ${SCORE_EPSILON}::float8`;
  await query((db) =>
    db
      .updateTable('evaluation_results')
      .set({ regression: isBelow, improvement: false })
      .where('evaluation_id', '=', evaluationId)
      .where(sql<boolean>`(${isBelow} or regression or improvement)`),
  );
}

/** Excludes failed examples, which have no scores. */
function sumByEvaluator(
  query: Query,
  evaluationId: string,
): Promise<{ name: string; millionths: number; scored: number }[]> {
  return query((db) =>
    db
      .selectFrom([
        'evaluation_results as r',
        sql<{ key: string; value: unknown }>`jsonb_each(r.scores)`.as<'s'>(sql`s(key, value)`),
      ])
      .select([
        's.key as name',
        sql<number>`coalesce(sum(round(((s.value->>'score')::float8 * 1000000)::numeric)), 0)::float8`.as('millionths'),
        sql<number>`count(s.value->>'score')::int`.as('scored'),
      ])
      .where('r.evaluation_id', '=', evaluationId)
      .where('r.status', '=', 'scored')
      .groupBy('s.key'),
  );
}

const COMPLETED = changeState(evaluationStates, { to: 'completed' });

async function complete(query: Query, evaluationId: string, run: RunToFinish, sums: RunSums): Promise<void> {
  const { score, scoresByEvaluator, regressions, improvements, summary } = sums;
  await query((db) =>
    db
      .updateTable('evaluations')
      .set({
        ...COMPLETED.set,
        status_reason: null,
        finished_at: now,
        score,
        scores_by_evaluator: asJson(scoresByEvaluator),
        regressions,
        improvements,
        summary: asJson(summary),
        result_bytes: bytesOfResults(evaluationId),
      })
      .where('id', '=', evaluationId)
      .where(COMPLETED.where),
  );
  // An improvement writes its own events.
  if (run.improvement_id !== null) return;
  const data = {
    evaluation_id: publicId('evaluation', evaluationId),
    prompt_name: run.prompt_name,
    // The event needs a number; the stored run shows that there is no score.
    score: score ?? 0,
    examples_evaluated: summary.evaluated,
    regressions,
  };
  const own = bindWorkspace(query, run.workspace_id);
  await writeEvent(own, 'evaluation.completed', data);
  if (score === null || !passes(score, run.threshold))
    await writeEvent(own, 'evaluation.regression', { ...data, threshold: run.threshold });
}

/** An earlier attempt may have completed the run without being able to report it. */
async function leftAs(query: Query, { evaluationId, round }: RunRef): Promise<FinishedRun> {
  const [row] = await query((db) =>
    db.selectFrom('evaluations').select('status').where('id', '=', evaluationId).where('retries', '=', round),
  );
  return row?.status === 'completed' ? 'completed before' : 'left';
}
