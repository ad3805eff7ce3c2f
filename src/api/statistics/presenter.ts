import type { z } from 'zod';
import { roundScore } from '../../domain/evaluations/scoring.ts';
import { publicId } from '../../domain/ids.ts';
import { NO_TOKENS } from '../../domain/usage.ts';
import type { PromptStatistics } from '../../services/statistics/list-prompt-statistics.ts';
import type { RunsRow, ScoreRow } from '../../services/statistics/prompt-statistics.ts';
import { presentSums } from '../usage/presenter.ts';
import type { PromptSeries, StatisticsPage } from './schema.ts';

const Z_95 = 1.959964;

/** The interval for the mean score of more examples of the same kind. */
interface ScoreInterval {
  low: number;
  high: number;
}

/**
 * The 95 % interval of a mean score by Wilson (1927), rounded to six decimals. It is correct for scores of 0 and 1. Scores in
 * between vary less, so their interval is somewhat wider than necessary; in exchange only the mean is needed.
 * @param mean 0..1
 * @param examples at least 1
 */
function scoreInterval(mean: number, examples: number): ScoreInterval {
  const z2 = Z_95 ** 2;
  const center = (mean + z2 / (2 * examples)) / (1 + z2 / examples);
  const half = (Z_95 / (1 + z2 / examples)) * Math.sqrt((mean * (1 - mean)) / examples + z2 / (4 * examples ** 2));
  return { low: roundScore(Math.max(0, center - half)), high: roundScore(Math.min(1, center + half)) };
}

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
