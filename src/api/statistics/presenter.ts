import type { z } from 'zod';
import { scoreInterval } from '../../domain/evaluations/score-interval.ts';
import { publicId } from '../../domain/ids.ts';
import { NO_TOKENS } from '../../domain/usage.ts';
import type { PromptStatistics } from '../../services/statistics/list-prompt-statistics.ts';
import type { RunsRow, ScoreRow } from '../../services/statistics/prompt-statistics.ts';
import { presentSums } from '../usage/presenter.ts';
import type { PromptSeries, StatisticsPage } from './schema.ts';

type Series = z.input<typeof PromptSeries>;

const NO_USAGE = { tokens: NO_TOKENS, cost: { amount: '0', currency: 'USD' as const }, unpriced: 0 };

/** Presents the statistics of a prompt. */
export function presentStatistics({
  name,
  usage,
  p50Ms,
  p95Ms,
  lastRunAt,
  lastEvaluation,
}: PromptStatistics): z.input<typeof StatisticsPage>['data'][number] {
  const { tokens, cost, unpriced } = usage === undefined ? NO_USAGE : presentSums(usage);
  return {
    prompt_name: name,
    runs: usage?.executions ?? 0,
    failed: usage?.failed ?? 0,
    tokens,
    cost,
    unpriced,
    latency: { p50_ms: p50Ms, p95_ms: p95Ms },
    last_score: lastEvaluation?.score ?? null,
    last_evaluation_id: lastEvaluation === undefined ? null : publicId('evaluation', lastEvaluation.id),
    last_run_at: lastRunAt?.toISOString() ?? null,
  };
}

export function presentRuns(row: RunsRow): Series['runs'][number] {
  const { tokens, cost, unpriced } = presentSums(row);
  return {
    day: row.day,
    prompt_version: row.prompt_version,
    runs: row.runs,
    failed: row.failed,
    tokens,
    cost,
    unpriced,
    latency: { p50_ms: row.p50_ms, p95_ms: row.p95_ms },
  };
}

/** The score of an evaluation; empty if it had no examples or none of them has a score. */
export function presentScore(row: ScoreRow): Series['scores'] {
  if (row.score === null || row.finished_at === null || row.examples_total === 0) return [];
  return [
    {
      evaluation_id: publicId('evaluation', row.id),
      prompt_version: row.prompt_version,
      dataset:
        row.dataset_name === null || row.dataset_version === null
          ? null
          : { name: row.dataset_name, version: row.dataset_version },
      score: row.score,
      interval: scoreInterval(row.score, row.examples_total - row.unscored),
      finished_at: row.finished_at.toISOString(),
    },
  ];
}
