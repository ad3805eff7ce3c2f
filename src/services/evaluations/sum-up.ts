import { bindWorkspace, type Query } from '../../db/database.ts';
import type { EvaluationSummary } from '../../db/entities/evaluation.ts';
import type { EvaluationStatus } from '../../domain/evaluation-states.ts';

interface Sums {
  tokens_input: string;
  tokens_output: string;
  tokens_cached_input: string;
  tokens_reasoning: string;
  cost: string | null;
  unpriced: boolean;
}

const SUMS = `coalesce(sum(tokens_input), 0) as tokens_input, coalesce(sum(tokens_output), 0) as tokens_output,
  coalesce(sum(tokens_cached_input), 0) as tokens_cached_input, coalesce(sum(tokens_reasoning), 0) as tokens_reasoning,
  trim_scale(coalesce(sum(cost_amount), 0))::text as cost`;

/** Results have no workspace of their own: their run does. */
const OWN_RUN = '(select id from evaluations where workspace_id = $1 and id = $2)';

const RESULTS = {
  text: `select ${SUMS}, coalesce(bool_or(assumed_cost is not null), false) as unpriced,
           count(*) filter (where status in ('scored', 'failed'))::int as evaluated,
           count(*) filter (where status = 'failed')::int as failed,
           percentile_disc(0.5) within group (order by model_ms) as "p50Ms",
           percentile_disc(0.95) within group (order by model_ms) as "p95Ms"
         from evaluation_results where evaluation_id = ${OWN_RUN}`,
};
const JUDGEMENTS = {
  text: `select ${SUMS}, coalesce(bool_or(assumed_cost is not null), false) as unpriced
         from evaluation_judgements where evaluation_id = ${OWN_RUN}`,
};

function tokensOf(sums: Sums) {
  const input = Number(sums.tokens_input);
  const output = Number(sums.tokens_output);
  return {
    input,
    output,
    cached_input: Number(sums.tokens_cached_input),
    reasoning: Number(sums.tokens_reasoning),
    total: input + output,
  };
}

type ResultSums = Sums & Pick<EvaluationSummary, 'evaluated' | 'failed' | 'p50Ms' | 'p95Ms'>;

/**
 * Counts, tokens, cost and latency of a run so far, from its rows. Nothing is stored.
 * @param query bound to the run's workspace
 */
export async function readSummary(query: Query, evaluationId: string): Promise<EvaluationSummary> {
  const [results] = await query<ResultSums>(RESULTS, [evaluationId]);
  const [judgements] = await query<Sums>(JUDGEMENTS, [evaluationId]);
  if (results === undefined || judgements === undefined) throw new Error('An aggregate without a row.');
  return {
    evaluated: results.evaluated,
    failed: results.failed,
    tokens: tokensOf(results),
    cost: results.unpriced ? null : results.cost,
    judgeTokens: tokensOf(judgements),
    judgeCost: judgements.unpriced ? null : judgements.cost,
    p50Ms: results.p50Ms,
    p95Ms: results.p95Ms,
  };
}

export interface RunSummary extends EvaluationSummary {
  promptName: string;
  promptVersion: number;
  model: string;
  examplesTotal: number;
  status: EvaluationStatus;
  /** Why it is paused, or how it failed. */
  reason: string | null;
}

/**
 * Reads the sums and keeps them in the run's row, where lists show them.
 * @param query across workspaces
 */
export async function sumUpRun(query: Query, evaluationId: string): Promise<RunSummary | undefined> {
  const [owner] = await query<{ workspace_id: string }>(
    { text: 'select workspace_id from evaluations where id = $1' },
    [evaluationId],
  );
  if (owner === undefined) return undefined;
  const summary = await readSummary(bindWorkspace(query, owner.workspace_id), evaluationId);
  const [run] = await query<Omit<RunSummary, keyof EvaluationSummary>>(
    {
      text: `update evaluations set summary = $2 where id = $1
             returning prompt_name as "promptName", prompt_version as "promptVersion", model, examples_total as "examplesTotal",
               status, coalesce(error->>'message', status_reason) as reason`,
    },
    [evaluationId, summary],
  );
  return run && { ...summary, ...run };
}

/** Progress in words, for operators. */
export function describeProgress(run: RunSummary | undefined): string {
  if (run === undefined) return 'the evaluation is gone';
  const percent = run.examplesTotal === 0 ? 100 : Math.floor((run.evaluated / run.examplesTotal) * 100);
  const cost = run.cost === null || run.judgeCost === null ? 'unknown' : `${run.cost} USD`;
  const judges = run.judgeTokens.total > 0 ? `, judges ${run.judgeCost ?? 'unknown'} USD` : '';
  return [
    run.reason === null ? run.status : `${run.status}: ${run.reason}`,
    `**${run.promptName} v${run.promptVersion}** on ${run.model}`,
    `${run.evaluated} of ${run.examplesTotal} examples (${percent} %), ${run.failed} failed`,
    `cost so far ${cost}${judges}, median latency ${run.p50Ms ?? '–'} ms`,
  ].join('\n\n');
}
