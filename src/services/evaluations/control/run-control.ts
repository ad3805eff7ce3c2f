import { type Expression, type ExpressionBuilder, expressionBuilder, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { asJson, prepared, type RowOf } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import type { BatchSettings } from '../../../domain/batches/batch-mode.ts';
import { NO_VERSION } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../../domain/evaluations/evaluation-states.ts';
import { mayBegin } from '../../acceptance/may-begin.ts';
import { outOfBudget } from '../../budget-reason.ts';
import type { RunRef } from '../creation/run-spec.ts';
import { withdrawUnacceptedEvaluation } from '../creation/withdraw-evaluation.ts';
import { hasSameEvaluators } from '../same-evaluators.ts';

/** What the caller wants a run to do, as the workflow needs it. */
export interface RunControl {
  /** `ended`: completed, failed, canceled, or retried in the meantime. */
  status: 'scheduled' | 'running' | 'paused' | 'ended';
  /** When it is due, ISO 8601; null: immediately. */
  startAt: string | null;
  /** The time until it is due. */
  waitMs: number;
  examplesTotal: number;
  concurrency: number;
  maxCostUsd: number | null;
  /** How it calls its models by batches; null: it does not. Absent in histories of before there were batches. */
  batch?: BatchSettings | null;
}

const HAS_LAPSED = sql<boolean>`${inStates(evaluationStates, ['scheduled'])} and not ${mayBegin}`;

/**
 * A run starts when the run of recorded outputs that it is compared with has ended. How long to wait until the next check, in milliseconds:
 * longer the older that run is. Null if there is nothing to wait for.
 */
const baselineWait = () => {
  const eb = expressionBuilder<Tables, 'evaluations'>();
  return eb
    .case()
    .when('evaluations.baseline_mode', '=', 'recorded')
    .then(
      eb
        .selectFrom('evaluations as b')
        .select(
          sql<number>`greatest(500, least(30000, extract(epoch from now() - ${sql.ref('b.created_at')}) * 100))`.as(
            'ms',
          ),
        )
        .whereRef('b.id', '=', 'evaluations.baseline_id')
        .where(inStates(evaluationStates, UNFINISHED_EVALUATION, 'b')),
    )
    .end();
};

/** @param round an earlier round has ended: the row is of a later one */
const controlColumns = (round: Expression<number>) => [
  sql<RunControl['status']>`case when retries = ${round} and ${inStates(evaluationStates, UNFINISHED_EVALUATION)}
    then status else 'ended' end`.as('status'),
  HAS_LAPSED.as('lapsed'),
  'start_at as startAt' as const,
  sql<
    number | null
  >`greatest(0, ceil(extract(epoch from start_at - now()) * 1000), ceil(${baselineWait()}))::float8`.as('waitMs'),
  'examples_total as examplesTotal' as const,
  'concurrency' as const,
  sql<number | null>`max_cost::float8`.as('maxCostUsd'),
  'batch' as const,
];

const READ = prepared<RunRef>()((db, { evaluationId, round }) =>
  db.selectFrom('evaluations').select(controlColumns(round)).where('id', '=', evaluationId),
);
/** One statement resets `signal_pending` and reads the row, so that no change is lost in between. */
const READ_NEWS = prepared<RunRef>()((db, { evaluationId, round }) =>
  db
    .updateTable('evaluations')
    .set({ signal_pending: false })
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where('signal_pending', '=', true)
    .returning(controlColumns(round)),
);

type ControlRow = RowOf<typeof READ>;

/**
 * Reads what a run should do. A run whose caller was not notified in time is withdrawn: its workflow ends, so no caller may be
 * notified of it later.
 * @returns null if the run's row is gone
 */
export async function readRunControl(query: Query, { evaluationId, round }: RunRef): Promise<RunControl | null> {
  for (;;) {
    const [row] = await query(READ, { evaluationId, round });
    if (row === undefined) return null;
    const control = controlOf(row);
    if (control !== undefined) return control;
    if (await withdrawUnacceptedEvaluation(query, evaluationId)) return null;
    // A caller has just been notified of it.
  }
}

/** Like `readRunControl`, for the run's workflow, which learns of all changes this way. */
export async function readNewRunControl(query: Query, run: RunRef): Promise<RunControl | null> {
  const [row] = await query(READ_NEWS, { evaluationId: run.evaluationId, round: run.round });
  return (row && controlOf(row)) ?? readRunControl(query, run);
}

function controlOf({ lapsed, startAt, waitMs, ...control }: ControlRow): RunControl | undefined {
  if (lapsed) return undefined;
  const isLater = startAt !== null && startAt.getTime() > Date.now();
  const due = waitMs && !isLater ? new Date(Date.now() + waitMs) : startAt;
  return { ...control, startAt: due?.toISOString() ?? null, waitMs: waitMs ?? 0 };
}

const RUNNING = changeState(evaluationStates, { to: 'running', from: ['scheduled'] });

/**
 * The newest completed run of the same prompt or code as `e`, over the same examples, with the same evaluators and weights. A run
 * of a draft is compared with a version, but never serves as a baseline.
 */
const previousRun = (eb: ExpressionBuilder<Tables & { e: Tables['evaluations'] }, 'e'>) =>
  eb
    .selectFrom('evaluations as b')
    .select('b.id')
    .whereRef('b.workspace_id', '=', 'e.workspace_id')
    .whereRef('b.prompt_name', '=', 'e.prompt_name')
    .whereRef('b.target', '=', 'e.target')
    .where((b) => b.or([b('b.target', '=', 'code'), b('b.prompt_version', '<>', NO_VERSION)]))
    .where('b.status', '=', 'completed')
    .where('b.improvement_id', 'is', null)
    .whereRef('b.id', '<>', 'e.id')
    .where(
      sql<boolean>`case when e.dataset_name is null then b.examples_hash = e.examples_hash else b.dataset_name = e.dataset_name end`,
    )
    .where(hasSameEvaluators('b', 'e'))
    .orderBy('b.finished_at', 'desc')
    .orderBy('b.id', 'desc')
    .limit(1);

/** What is left of `max_cost` once the recorded outputs were scored, which counts towards it. */
const remainingCost = (eb: ExpressionBuilder<Tables & { e: Tables['evaluations'] }, 'e'>) => {
  const sum = sql<string>`coalesce(sum(coalesce(cost_amount, 0) + coalesce(assumed_cost, 0)), 0)`.as('sum');
  const results = eb
    .selectFrom('evaluations as b')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'b.id')
    .select(sum)
    .whereRef('b.id', '=', 'e.baseline_id');
  const judgements = eb
    .selectFrom('evaluations as b')
    .innerJoin('evaluation_judgements as j', 'j.evaluation_id', 'b.id')
    .select(sum)
    .whereRef('b.id', '=', 'e.baseline_id');
  return sql<string | null>`case when ${sql.ref('e.max_cost')} is not null and ${sql.ref('e.retries')} = 0
    and ${sql.ref('e.baseline_mode')} = 'recorded' and ${sql.ref('e.started_at')} is null
    then greatest(0, ${sql.ref('e.max_cost')} - ${results} - ${judgements})
    else ${sql.ref('e.max_cost')} end`;
};

/** Moves a run from `scheduled` to `running`, and settles the baseline `previous` and the budget. Safe to repeat. */
export async function markRunRunning(query: Query, { evaluationId, round }: RunRef): Promise<void> {
  await query((db) =>
    db
      .updateTable('evaluations as e')
      .set((eb) => ({
        ...RUNNING.set,
        started_at: sql<Date>`coalesce(started_at, now())`,
        max_cost: remainingCost(eb),
        baseline_id: eb
          .case()
          .when('e.baseline_mode', '=', 'previous')
          .then(previousRun(eb))
          .else(eb.ref('e.baseline_id'))
          .end(),
      }))
      .where('e.id', '=', evaluationId)
      .where('e.retries', '=', round)
      .where(RUNNING.where)
      .where(mayBegin),
  );
}

const OUT_OF_BUDGET = changeState(evaluationStates, { to: 'paused', from: ['running'] });

/** Pauses a run whose budget is used up, unless its cap was raised in the meantime. */
export async function pauseRunForBudget(
  query: Query,
  { evaluationId, round }: RunRef,
  maxCostUsd: number,
): Promise<void> {
  await query((db) =>
    db
      .updateTable('evaluations')
      .set({
        ...OUT_OF_BUDGET.set,
        status_reason: outOfBudget('example'),
      })
      .where('id', '=', evaluationId)
      .where('retries', '=', round)
      .where(OUT_OF_BUDGET.where)
      .where(sql<number>`max_cost::float8`, '<=', maxCostUsd),
  );
}

const FAILED = changeState(evaluationStates, { to: 'failed' });

/** Ends a run that cannot continue. Results already paid for are kept. @returns whether this call ended it */
export async function failRun(
  query: Query,
  { evaluationId, round }: RunRef,
  error: { code: string; message: string },
): Promise<boolean> {
  const failed = await query((db) =>
    db
      .updateTable('evaluations')
      .set({ ...FAILED.set, status_reason: null, error: asJson(error), finished_at: now })
      .where('id', '=', evaluationId)
      .where('retries', '=', round)
      .where(FAILED.where)
      .returning('id'),
  );
  return failed.length > 0;
}
