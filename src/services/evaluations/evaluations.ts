import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { EvaluationTarget } from '../../domain/evaluations/code-run.ts';
import type { EvaluationStatus } from '../../domain/evaluations/evaluation-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import { type BatchRow, readBatches, savingsOf } from '../batches/read-batches.ts';
import { readSummary } from './run/read-summary.ts';
import { isMiscompared } from './same-evaluators.ts';

/** Without the texts, which may be long. */
const INCLUDED = sql<{ name: string; version: number }[]>`(
  select coalesce(jsonb_agg(distinct jsonb_build_object('name', i.value->'name', 'version', i.value->'version')), '[]')
  from jsonb_each(includes) as i)`.as('included');

interface Compared {
  baseline_id: string | null;
  regressions: number | null;
  improvements: number | null;
}

/** The outcome of a comparison, unless the comparison was wrong. */
const ifTrue = <Column extends keyof Compared>(column: Column) =>
  sql<Compared[Column]>`case when not ${isMiscompared('evaluations')} then ${sql.ref(column)} end`.as(column);

/** The columns read for callers. */
export const EVALUATION_COLUMNS = [
  'id',
  'workspace_id',
  'name',
  'target',
  'prompt_name',
  'prompt_version',
  'model',
  'fallback_models',
  INCLUDED,
  'provider',
  'parameters',
  'dataset_name',
  'dataset_version',
  sql<EvaluatorConfig[]>`evaluators`.as('evaluators'),
  'threshold',
  'example_threshold',
  ifTrue('baseline_id'),
  'source_evaluation_id',
  'from_executions',
  'reuse_max_age',
  'concurrency',
  'mode',
  'batch',
  sql<string | null>`trim_scale(max_cost)::text`.as('max_cost'),
  'start_at',
  'metadata',
  'schedule_id',
  'improvement_id',
  'status',
  'status_reason',
  'retries',
  'score',
  'scores_by_evaluator',
  'examples_total',
  ifTrue('regressions'),
  ifTrue('improvements'),
  'summary',
  'error',
  'created_at',
  'started_at',
  'finished_at',
  'results_due_at',
] as const;

const FIND = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('evaluations').select(EVALUATION_COLUMNS).where('id', '=', id),
);

export type EvaluationRow = RowOf<typeof FIND>;

/** Set by every change that the workflow must notice. The workflow resets `signal_pending` when it reads the row. */
export const SIGNAL_PENDING = { signal_pending: true, check_at: sql<Date>`now() + interval '30 seconds'` };

/** @throws ApiError `not_found` */
export async function getEvaluation(query: Query, id: string): Promise<EvaluationRow> {
  const [row] = await query(FIND, { id });
  if (!row) throw notFound('This evaluation');
  return row;
}

/** An evaluation with the fields that lists omit. */
export interface CurrentEvaluation extends EvaluationRow {
  batches: BatchRow[];
  /** The savings of its batches so far: US dollars, decimal. */
  savings: string;
}

/**
 * An evaluation with its batches, and with current sums if it is running or its sums lack the reasons of failures.
 * @param sumsQuery the query for reading the sums from all results. Default: the query of the row
 */
export async function getCurrentEvaluation(
  db: WorkspaceDatabase,
  id: string,
  sumsQuery: Query = db.query,
): Promise<CurrentEvaluation> {
  const row = await getEvaluation(db.query, id);
  const [batches, savings] =
    row.batch === null ? [[], '0'] : [await readBatches(db.query, row.id), await savingsOf(sumsQuery, row.id)];
  const isFinal = row.status === 'completed' && (row.summary?.failed === 0 || row.summary?.failures !== undefined);
  const summary = isFinal ? row.summary : await readSummary(sumsQuery, row.id);
  return { ...row, batches, savings, summary };
}

export interface EvaluationFilter {
  promptName?: string | undefined;
  target?: EvaluationTarget | undefined;
  status?: EvaluationStatus | undefined;
  dataset?: string | undefined;
  scheduleId?: string | undefined;
  /** Default: those of no improvement. */
  improvementId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

function conditionsOf(filter: EvaluationFilter, before: string | undefined): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'evaluations'>();
  const { from, to } = idsOfSpan(filter.since, filter.until);
  const conditions: Expression<SqlBool>[] = [];
  if (filter.promptName !== undefined) conditions.push(eb('prompt_name', '=', filter.promptName));
  if (filter.target !== undefined) conditions.push(eb('target', '=', filter.target));
  if (filter.status !== undefined) conditions.push(eb('status', '=', filter.status));
  if (filter.dataset !== undefined) conditions.push(eb('dataset_name', '=', filter.dataset));
  if (filter.scheduleId !== undefined) conditions.push(eb('schedule_id', '=', filter.scheduleId));
  conditions.push(
    filter.improvementId === undefined
      ? eb('improvement_id', 'is', null)
      : eb('improvement_id', '=', filter.improvementId),
  );
  if (filter.since !== undefined) conditions.push(eb('created_at', '>=', filter.since), eb('id', '>=', from));
  if (filter.until !== undefined) conditions.push(eb('created_at', '<', filter.until), eb('id', '<', to));
  if (before !== undefined) conditions.push(eb('id', '<', before));
  return eb.and(conditions);
}

/** Evaluations, newest first: a page of at most `limit` before the id `before`. */
export function listEvaluations(
  db: WorkspaceDatabase,
  filter: EvaluationFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<EvaluationRow>> {
  return selectPage(
    db.query,
    {
      select: (own) =>
        own.selectFrom('evaluations').select(EVALUATION_COLUMNS).select('bytes').where(conditionsOf(filter, before)),
      orderBy: [['id', 'desc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );
}
