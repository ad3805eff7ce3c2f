import { expressionBuilder, sql } from 'kysely';
import { bindWorkspace, type Query } from '../../../db/database.ts';
import type { EvaluationSummary } from '../../../db/entities/evaluation.ts';
import { causesOf } from '../../../db/failure-causes.ts';
import { inStates } from '../../../db/state-change.ts';
import { asJson, prepared } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import { type EvaluationStatus, evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { MAX_FAILURE_CAUSES } from '../../../domain/failures.ts';
import type { TokenUsage } from '../../../domain/usage.ts';
import { promptOf } from '../control/evaluation-workflow.ts';

const sumOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)::float8`;

/** Sums of the usage columns, which results and judgements share. */
const USAGE_SUMS = [
  sumOf('tokens_input').as('input'),
  sumOf('tokens_output').as('output'),
  sumOf('tokens_cached_input').as('cached_input'),
  sumOf('tokens_reasoning').as('reasoning'),
  sql<string>`trim_scale(coalesce(sum(cost_amount), 0))::text`.as('cost'),
  sql<boolean>`coalesce(bool_or(assumed_cost is not null), false)`.as('unpriced'),
] as const;

function tokensOf({ input, output, cached_input, reasoning }: Omit<TokenUsage, 'total'>): TokenUsage {
  return { input, output, cached_input, reasoning, total: input + output };
}

const SUM_UP_RESULTS = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .select(USAGE_SUMS)
    .select([
      sql<number>`count(*) filter (where r.status in ('scored', 'failed'))::int`.as('evaluated'),
      sql<number>`count(*) filter (where r.status = 'failed')::int`.as('failed'),
      sql<number>`count(*) filter (where r.status = 'scored' and r.score is null)::int`.as('unscored'),
      sql<number | null>`percentile_disc(0.5) within group (order by model_ms)`.as('p50Ms'),
      sql<number | null>`percentile_disc(0.95) within group (order by model_ms)`.as('p95Ms'),
    ])
    .where('e.id', '=', id),
);

const SUM_UP_JUDGEMENTS = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_judgements as j', 'j.evaluation_id', 'e.id')
    .select(USAGE_SUMS)
    .where('e.id', '=', id),
);

const UNSCORED_BY = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('evaluations as e')
        .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
        .select([
          sql<string>`(jsonb_each(${sql.ref('r.scores')})).key`.as('name'),
          sql<string | null>`(jsonb_each(${sql.ref('r.scores')})).value->>'score'`.as('score'),
        ])
        .where('e.id', '=', id)
        .where('r.status', '=', 'scored')
        .where('r.score', 'is', null)
        .as('given'),
    )
    .select(['name', sql<number>`count(*)::int`.as('count')])
    .where('score', 'is', null)
    .groupBy('name')
    .orderBy('name'),
);

const CAUSES = causesOf('r.error');
const FAILURES = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .select(CAUSES.columns)
    .where('e.id', '=', id)
    .where('r.status', '=', 'failed')
    .where('r.error', 'is not', null)
    .groupBy(CAUSES.groups)
    .orderBy('count', 'desc')
    .orderBy('code')
    .orderBy('message')
    .limit(MAX_FAILURE_CAUSES),
);

/**
 * Counts, tokens, cost and latency of a run so far, and why examples failed, from its rows. Nothing is stored.
 * @param query bound to the run's workspace
 */
export async function readSummary(query: Query, evaluationId: string): Promise<EvaluationSummary> {
  const [results] = await query(SUM_UP_RESULTS, { id: evaluationId });
  const [judgements] = await query(SUM_UP_JUDGEMENTS, { id: evaluationId });
  if (results === undefined || judgements === undefined) throw new Error('An aggregate without a row.');
  const unscoredBy = results.unscored === 0 ? [] : await query(UNSCORED_BY, { id: evaluationId });
  return {
    evaluated: results.evaluated,
    failed: results.failed,
    unscored: results.unscored,
    unscoredBy: Object.fromEntries(unscoredBy.map(({ name, count }) => [name, count])),
    failures: results.failed === 0 ? [] : await query(FAILURES, { id: evaluationId }),
    tokens: tokensOf(results),
    cost: results.unpriced ? null : results.cost,
    judgeTokens: tokensOf(judgements),
    judgeCost: judgements.unpriced ? null : judgements.cost,
    p50Ms: results.p50Ms,
    p95Ms: results.p95Ms,
  };
}

interface RunSummary extends EvaluationSummary {
  promptName: string;
  promptVersion: number;
  model: string;
  examplesTotal: number;
  /** US dollars, decimal; null: no limit. */
  maxCost: string | null;
  status: EvaluationStatus;
  /** Why it is paused, or how it failed. */
  reason: string | null;
}

/** What a result takes beside its texts. */
export const ROW_BYTES = 1024;

/** What the results of a run and its judges' responses take, for an update of its row across workspaces. */
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

/** Of a run that has completed they are final: sums that were read before must not replace them. */
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
 * Reads the sums and keeps them in the run's row, where lists show them; one that has completed has its final ones.
 * @param query across workspaces
 * @param states only where the run is in one of these states
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
  /** How far it is, what it has cost, and why it does not run. */
  line: string;
  /** The same and more, in Markdown. */
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
