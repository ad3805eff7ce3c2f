import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { asJson } from '../../../db/statement.ts';
import { invalidField } from '../../../domain/errors.ts';
import { CODE, CODE_SCORE, MAX_CODE_EXAMPLES } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import type { Example } from '../../../domain/evaluations/example.ts';
import { newId } from '../../../domain/ids.ts';
import { findExamples } from '../../datasets/find-examples.ts';
import { type StoredExamples, storeExamples } from '../../datasets/inline-examples.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import { markRunRunning } from '../control/run-control.ts';
import { baselineOf } from '../creation/create-evaluation.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';
import { STILL_DUE } from './code-runs.ts';

export interface NewCodeEvaluation {
  /** The name of the code: runs of the same name are compared. */
  name: string;
  /** Exactly one of `dataset` and `examples`. */
  dataset?: { name: string; version?: number | undefined } | undefined;
  examples?: Example[] | undefined;
  scores: { name: string; weight: number }[];
  threshold: number;
  /** `previous`, a public evaluation id, or null for none. */
  baseline: string | null;
  metadata: Record<string, string>;
  /** Whether to continue an unfinished run with the same examples and scores. */
  resume: boolean;
}

/**
 * Stores a run whose results come from outside, as `running`. Runs in the caller's transaction.
 * @throws ApiError `not_found`, `invalid_request`, `quota_exceeded`
 */
export async function createCodeEvaluation(
  query: Query,
  quotas: Pick<Quotas, 'require' | 'check'>,
  request: NewCodeEvaluation,
): Promise<EvaluationRow> {
  const { name, dataset, examples } = request;
  const evaluators = request.scores.map((score) => ({ type: CODE_SCORE, ...score }));
  const baseline = await baselineOf(query, request.baseline, evaluators);
  const found = dataset && (await findExamples(query, dataset.name, dataset.version));
  const stored = found ?? (await storeExamples(query, quotas, examples ?? []));
  if (stored.total > MAX_CODE_EXAMPLES)
    throw invalidField('dataset', `has ${stored.total} examples; a run of code can have at most ${MAX_CODE_EXAMPLES}`);
  const unfinished = request.resume ? await findUnfinished(query, name, stored, evaluators) : undefined;
  if (unfinished !== undefined) return getEvaluation(query, unfinished);
  const id = newId();
  await query((db) =>
    db.insertInto('evaluations').values({
      id,
      target: 'code',
      prompt_name: name,
      prompt_version: CODE.promptVersion,
      content: asJson(CODE.content),
      model: CODE.model,
      provider: CODE.provider,
      parameters: asJson({}),
      dataset_name: found?.datasetName ?? null,
      dataset_version: found?.version ?? null,
      examples_id: stored.examplesId,
      examples_hash: stored.hash,
      examples_total: stored.total,
      evaluators: asJson(evaluators),
      threshold: request.threshold,
      baseline_mode: baseline.mode,
      baseline_id: baseline.id,
      // The caller's program decides on the concurrency.
      concurrency: 0,
      metadata: asJson(request.metadata),
      status: evaluationStates.initial,
      ...STILL_DUE,
      accepted_at: now,
      created_at: now,
    }),
  );
  await markRunRunning(query, { evaluationId: id, round: 0 });
  if (found === undefined) await quotas.require(query, 'datasetBytes');
  await quotas.require(query, 'evaluations');
  return getEvaluation(query, id);
}

/**
 * The newest unfinished run of code of this name over equal examples with the same scores. The examples of this request are then
 * deleted by the sweep.
 */
async function findUnfinished(
  query: Query,
  name: string,
  { hash }: StoredExamples,
  evaluators: object[],
): Promise<string | undefined> {
  const [run] = await query((db) =>
    db
      .selectFrom('evaluations')
      .select('id')
      .where('prompt_name', '=', name)
      .where('target', '=', 'code')
      .where('status', '=', 'running')
      .where('results_due_at', 'is not', null)
      .where('examples_hash', '=', hash)
      .where(sql<SqlBool>`evaluators = ${JSON.stringify(evaluators)}::jsonb`)
      .orderBy('id', 'desc')
      .limit(1),
  );
  return run?.id;
}
