import { Big } from 'big.js';
import type { z } from 'zod';
import { passes } from '../../domain/evaluations/scoring.ts';
import { publicId } from '../../domain/ids.ts';
import { JsonText, type WithTexts } from '../../domain/text/json-text.ts';
import { NO_TOKENS, type TokenUsage } from '../../domain/usage.ts';
import type { BatchRow } from '../../services/batches/read-batches.ts';
import { isRunByCaller } from '../../services/evaluations/code/code-runs.ts';
import type { CurrentEvaluation, EvaluationRow } from '../../services/evaluations/evaluations.ts';
import type { ResultRow } from '../../services/evaluations/results/results.ts';
import { evaluationWorkflowId } from '../../temporal/names.ts';
import { presentBatch } from './batch-options.ts';
import type { Result } from './results-schema.ts';
import type { Evaluation, ProviderBatch } from './schema.ts';

function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached_input: a.cached_input + b.cached_input,
    reasoning: a.reasoning + b.reasoning,
    total: a.total + b.total,
  };
}

function addCosts(a: string | null, b: string | null): string | null {
  return a === null || b === null ? null : new Big(a).plus(b).toFixed();
}

const iso = (time: Date | null) => time?.toISOString() ?? null;

function presentProviderBatch(row: BatchRow): z.input<typeof ProviderBatch> {
  const { number, wave, evaluator, provider, model, provider_batch_id, status, provider_status, items, counts, error } =
    row;
  return {
    number,
    id: publicId('providerBatch', row.id),
    wave,
    evaluator,
    provider,
    model,
    provider_batch_id,
    status,
    provider_status,
    items,
    counts,
    submitted_at: iso(row.submitted_at),
    expires_at: iso(row.expires_at),
    next_poll_at: iso(row.next_poll_at),
    finished_at: iso(row.finished_at),
    error,
  };
}

/** Presents an evaluation, with its batches if they were read. */
export function presentEvaluation(row: EvaluationRow | CurrentEvaluation): z.input<typeof Evaluation> {
  const summary = row.summary;
  const tokens = summary?.tokens ?? NO_TOKENS;
  const judgeTokens = summary?.judgeTokens ?? NO_TOKENS;
  const cost = summary === null ? '0' : summary.cost;
  const judgeCost = summary === null ? '0' : summary.judgeCost;
  const evaluated = summary?.evaluated ?? 0;
  const isRecorded = row.source_evaluation_id === row.id;
  return {
    id: publicId('evaluation', row.id),
    status: row.status,
    status_reason: row.status_reason,
    name: row.name,
    target: { type: row.target, name: row.prompt_name },
    prompt_name: row.prompt_name,
    prompt_version: row.prompt_version,
    model: row.model,
    fallback_models: row.fallback_models,
    includes: row.included,
    provider: row.provider,
    parameters: row.parameters,
    dataset:
      row.dataset_name === null || row.dataset_version === null
        ? null
        : { name: row.dataset_name, version: row.dataset_version },
    evaluators: row.evaluators,
    threshold: row.threshold,
    example_threshold: row.example_threshold,
    baseline_id: row.baseline_id === null ? null : publicId('evaluation', row.baseline_id),
    source_evaluation_id:
      row.source_evaluation_id === null || isRecorded ? null : publicId('evaluation', row.source_evaluation_id),
    ...(row.from_executions && { from_executions: { ...row.from_executions, recorded: isRecorded } }),
    reuse: row.reuse_max_age === null ? null : { max_age: row.reuse_max_age },
    concurrency: row.concurrency,
    mode: row.mode,
    batch: row.batch && presentBatch(row.batch),
    ...('batches' in row && {
      batches: row.batches.map(presentProviderBatch),
      savings: { amount: row.savings, currency: 'USD' },
    }),
    max_cost: row.max_cost,
    start_at: row.start_at?.toISOString() ?? null,
    metadata: row.metadata,
    schedule_id: row.schedule_id === null ? null : publicId('schedule', row.schedule_id),
    improvement_id: row.improvement_id === null ? null : publicId('improvement', row.improvement_id),
    score: row.score,
    scores_by_evaluator: row.scores_by_evaluator,
    passed: row.status === 'completed' ? row.score !== null && passes(row.score, row.threshold) : null,
    examples_total: row.examples_total,
    examples_evaluated: evaluated,
    examples_failed: summary?.failed ?? 0,
    examples_unscored: summary?.unscored ?? 0,
    unscored_by_evaluator: summary?.unscoredBy ?? {},
    failures: summary?.failures ?? [],
    regressions: row.regressions,
    improvements: row.improvements,
    tokens: addTokens(tokens, judgeTokens),
    tokens_unknown_calls: (summary?.tokensUnknown ?? 0) + (summary?.judgeTokensUnknown ?? 0),
    cost: { amount: addCosts(cost, judgeCost), currency: 'USD' },
    judge: { tokens: judgeTokens, cost: { amount: judgeCost, currency: 'USD' } },
    latency: { p50_ms: summary?.p50Ms ?? null, p95_ms: summary?.p95Ms ?? null },
    progress: row.examples_total === 0 ? 1 : evaluated / row.examples_total,
    retries: row.retries,
    workflow_id: isRunByCaller(row) ? '' : evaluationWorkflowId(row.id, row.retries),
    results_due_at: row.status === 'running' ? iso(row.results_due_at) : null,
    error: row.error,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

type Scores = NonNullable<ResultRow['scores']>;

const isScored = (
  entry: [string, Scores[string]],
): entry is [string, { score: number; reason: string | null; category?: string }] => entry[1].score !== null;

/** The scores of the evaluators, or the reason why one has none. */
function presentScores(stored: Scores): Pick<z.input<typeof Result>, 'scores' | 'unscored'> {
  const entries = Object.entries(stored);
  const unscored = entries.flatMap(([name, { score, reason }]) =>
    score === null ? [[name, { reason }] as const] : [],
  );
  return {
    scores: Object.fromEntries(entries.filter(isScored)),
    ...(unscored.length > 0 && { unscored: Object.fromEntries(unscored) }),
  };
}

/** Presents the result of one example. */
export function presentResult(
  row: ResultRow,
): WithTexts<z.input<typeof Result>, 'variables' | 'expected' | 'tool_calls'> {
  return {
    seq: row.seq,
    example_id: row.example_key,
    status: row.status,
    variables: new JsonText(row.variables),
    expected: row.expected === null ? null : new JsonText(row.expected),
    output: row.output,
    tool_calls: row.tool_calls === null ? [] : new JsonText(row.tool_calls),
    model: row.model,
    reused_from: row.reused_from,
    finish_reason: row.finish_reason,
    score: row.score,
    ...(row.scores === null ? { scores: null } : presentScores(row.scores)),
    baseline_score: row.baseline_score,
    regression: row.regression,
    improvement: row.improvement,
    error: row.error,
    attempts: row.attempts,
    tokens: {
      input: row.tokens_input,
      output: row.tokens_output,
      cached_input: row.tokens_cached_input,
      reasoning: row.tokens_reasoning,
      total: row.tokens_input + row.tokens_output,
    },
    ...(row.tokens_unknown > 0 && { tokens_unknown: true }),
    ...row.notes,
    cost: { amount: row.cost_amount, currency: 'USD' },
    model_ms: row.model_ms,
  };
}
