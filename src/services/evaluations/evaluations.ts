import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { EvaluationSummary } from '../../db/entities/evaluation.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { notFound } from '../../domain/errors.ts';
import type { EvaluationStatus } from '../../domain/evaluation-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import { readSummary } from './sum-up.ts';

/** A row of `evaluations`. */
export interface EvaluationRow {
  id: string;
  prompt_name: string;
  prompt_version: number;
  model: string;
  provider: string;
  parameters: ModelParameters;
  dataset_name: string | null;
  dataset_version: number | null;
  evaluators: EvaluatorConfig[];
  threshold: number;
  baseline_id: string | null;
  concurrency: number;
  max_cost: string | null;
  start_at: Date | null;
  metadata: Record<string, string>;
  schedule_id: string | null;
  status: EvaluationStatus;
  status_reason: string | null;
  retries: number;
  score: number | null;
  scores_by_evaluator: Record<string, number> | null;
  examples_total: number;
  regressions: number | null;
  improvements: number | null;
  summary: EvaluationSummary | null;
  error: { code: string; message: string } | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

export const EVALUATION_COLUMNS = `id, prompt_name, prompt_version, model, provider, parameters, dataset_name, dataset_version,
  evaluators, threshold, baseline_id, concurrency, trim_scale(max_cost)::text as max_cost, start_at, metadata, schedule_id,
  status, status_reason, retries, score, scores_by_evaluator, examples_total, regressions, improvements, summary, error,
  created_at, started_at, finished_at`;

/** What every change sets that the workflow is to hear of, as SQL. The workflow takes `untold` back when it reads the row. */
export const UNTOLD = `untold = true, check_at = now() + interval '30 seconds'`;

/** @throws ApiError `not_found` */
export async function getEvaluation(query: Query, id: string): Promise<EvaluationRow> {
  const [row] = await query<EvaluationRow>(
    { text: `select ${EVALUATION_COLUMNS} from evaluations where workspace_id = $1 and id = $2` },
    [id],
  );
  if (!row) throw notFound('This evaluation');
  return row;
}

/** The same, with the sums as they are at this moment while it runs. */
export async function getCurrentEvaluation(db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await getEvaluation(db.query, id);
  if (row.status === 'completed') return row;
  return { ...row, summary: await readSummary(db.query, row.id) };
}

export interface EvaluationFilter {
  promptName?: string | undefined;
  status?: EvaluationStatus | undefined;
  dataset?: string | undefined;
  scheduleId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Evaluations, newest first, a page of at most `limit` before the id `before`. */
export async function listEvaluations(
  db: WorkspaceDatabase,
  filter: EvaluationFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<EvaluationRow>> {
  const values: unknown[] = [];
  const conditions = ['workspace_id = $1'];
  const where = (condition: string, value: unknown) => {
    if (value !== undefined) conditions.push(condition.replace('?', `$${values.push(value) + 1}`));
  };
  where('prompt_name = ?', filter.promptName);
  where('status = ?', filter.status);
  where('dataset_name = ?', filter.dataset);
  where('schedule_id = ?', filter.scheduleId);
  where('created_at >= ?', filter.since);
  where('created_at < ?', filter.until);
  const { from, to } = idsOfSpan(filter.since, filter.until);
  if (filter.since !== undefined) where('id >= ?', from);
  if (filter.until !== undefined) where('id < ?', to);
  where('id < ?', before);
  const select = `select ${EVALUATION_COLUMNS}, bytes from evaluations where ${conditions.join(' and ')}`;
  return readPage<EvaluationRow>(db.query, { select, orderBy: 'id desc', bytes: 'bytes' }, values, limit);
}
