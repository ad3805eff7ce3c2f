import type { z } from 'zod';
import type { PromptSeries, StatisticsPage } from './schema.ts';

const sums = {
  runs: 120,
  failed: 2,
  tokens: { input: 1440, output: 960, cached_input: 0, reasoning: 0, total: 2400 },
  cost: { amount: '0.000792', currency: 'USD' as const },
  unpriced: 0,
  latency: { p50_ms: 640, p95_ms: 1210 },
};
const evaluationId = 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
const span = { since: '2026-01-25T12:00:00.000Z', until: '2026-02-01T12:00:00.000Z' };

/** Samples for the documentation. */
export const statisticsSample: z.input<typeof StatisticsPage> = {
  data: [
    {
      prompt_name: 'support/greeting',
      ...sums,
      last_score: 0.93,
      last_evaluation_id: evaluationId,
      last_run_at: '2026-02-01T11:58:12.104Z',
    },
  ],
  next_cursor: null,
  ...span,
};

export const seriesSample: z.input<typeof PromptSeries> = {
  prompt_name: 'support/greeting',
  ...span,
  runs: [{ day: '2026-01-31', prompt_version: 3, ...sums }],
  scores: [
    {
      evaluation_id: evaluationId,
      prompt_version: 3,
      dataset: { name: 'support/questions', version: 2 },
      score: 0.93,
      interval: { low: 0.885934, high: 0.957902 },
      finished_at: '2026-01-31T12:00:41.218Z',
    },
  ],
};
