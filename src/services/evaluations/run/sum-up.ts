import { expressionBuilder, sql } from 'kysely';
import { bindWorkspace, type Query } from '../../../db/database.ts';
import type { EvaluationSummary } from '../../../db/entities/evaluation.ts';
import { inStates } from '../../../db/state-change.ts';
import { asJson } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import { promptOf } from '../../../domain/evaluations/code-run.ts';
import { type EvaluationStatus, evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { readSummary } from './read-summary.ts';

interface RunSummary extends EvaluationSummary {
  promptName: string;
  promptVersion: number;
  model: string;
  examplesTotal: number;
  /** US dollars, decimal; null: no limit. */
  maxCost: string | null;
  status: EvaluationStatus;
  /** Why it is paused or failed. */
  reason: string | null;
}

/** The size of a result without its texts. */
export const ROW_BYTES = 1024;

/** The size of a run's results and judge responses, for an update of its row across workspaces. */
export function bytesOfResults(evaluationId: string) {
  const eb = expressionBuilder<Tables>();
  const judgements = eb
    .selectFrom('evaluation_judgements as j')
    .select(
      sql<number>`coalesce(sum(coalesce(octet_length(j.answer), 0) + ${sql.lit(ROW_BYTES)}), 0)::bigint`.as('bytes'),
    )
    .where('j.evaluation_id', '=', evaluationId);
  return eb
    .selectFrom('evaluation_results as r')
    .select(sql<number>`coalesce(sum(r.bytes + ${sql.lit(ROW_BYTES)}), 0)::bigint + ${judgements}`.as('bytes'))
    .where('r.evaluation_id', '=', evaluationId);
}

/** The sums of a completed run are final: sums that were read earlier must not replace them. */
const NOT_FINAL = evaluationStates.states.filter((status) => status !== 'completed');

const RUN_COLUMNS = [
  'prompt_name as promptName',
  'prompt_version as promptVersion',
  'model',
  'status',
  'examples_total as examplesTotal',
  sql<string | null>`trim_scale(max_cost)::text`.as('maxCost'),
  sql<string | null>`coalesce(error->>'message', status_reason)`.as('reason'),
] as const;

/**
 * Reads the sums and stores them in the run's row, where lists show them; a completed run has its final sums.
 * @param query across workspaces
 * @param states only if the run is in one of these states
 */
export async function sumUpRun(
  query: Query,
  evaluationId: string,
  states: readonly EvaluationStatus[] = NOT_FINAL,
): Promise<RunSummary | undefined> {
  const [owner] = await query((db) =>
    db.selectFrom('evaluations').select('workspace_id').where('id', '=', evaluationId),
  );
  if (owner === undefined) return undefined;
  const summary = await readSummary(bindWorkspace(query, owner.workspace_id), evaluationId);
  await query((db) =>
    db
      .updateTable('evaluations')
      .set({ summary: asJson(summary), result_bytes: bytesOfResults(evaluationId) })
      .where('id', '=', evaluationId)
      .where(inStates(evaluationStates, states)),
  );
  const [run] = await query((db) => db.selectFrom('evaluations').select(RUN_COLUMNS).where('id', '=', evaluationId));
  return run && { ...summary, ...run };
}

/** Progress in words, for operators. */
export interface RunProgress {
  /** Its progress and cost, and why it is not running. */
  line: string;
  /** The same and more details, in Markdown. */
  details: string;
}

const countText = (count: number) => count.toLocaleString('en-US');

export function describeProgress(run: RunSummary | undefined): RunProgress {
  if (run === undefined) return { line: 'the evaluation is gone', details: 'the evaluation is gone' };
  const { status, reason, evaluated, examplesTotal, maxCost } = run;
  const percent = examplesTotal === 0 ? 100 : Math.floor((evaluated / examplesTotal) * 100);
  const reached = `${countText(evaluated)} of ${countText(examplesTotal)} examples (${percent} %), ${countText(run.failed)} failed`;
  const cost = run.cost === null || run.judgeCost === null ? 'unknown' : run.cost;
  const judges = run.judgeTokens.total > 0 ? `, judges ${run.judgeCost ?? 'unknown'} USD` : '';
  const soFar = `${reached}, cost ${cost}${maxCost === null ? '' : ` of ${maxCost}`} USD${judges}`;
  const limit = maxCost === null ? '' : ` (at most ${maxCost} USD, judges included)`;
  return {
    line: `${status === 'running' ? '' : `${status} at `}${soFar}${reason === null ? '' : `: ${reason}`}`,
    details: [
      reason === null ? status : `${status}: ${reason}`,
      `**${promptOf(run)}** on ${run.model}`,
      reached,
      `cost so far ${cost} USD${judges}${limit}, median latency ${run.p50Ms ?? '–'} ms`,
    ].join('\n\n'),
  };
}
