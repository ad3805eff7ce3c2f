import { z } from 'zod';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { LATENCY_RUNS } from '../../services/statistics/list-prompt-statistics.ts';
import { MAX_COUNTED_RUNS, MAX_SCORES } from '../../services/statistics/prompt-statistics.ts';
import { DEFAULT_DAYS, MAX_DAYS } from '../../services/statistics/statistics-span.ts';

const Span = {
  since: TimestampInput.optional().meta({
    description: `Created at or after this time. Default: ${DEFAULT_DAYS} days before \`until\`; at most ${MAX_DAYS}.`,
  }),
  until: TimestampInput.optional().meta({ description: 'Created before this time. Default: now.' }),
};

export const SeriesQuery = z.strictObject(Span);
export const StatisticsQuery = z.strictObject({
  ...PageQuery,
  group: Name.optional().meta({
    description: 'Only prompts whose name starts with this and a "/".',
    example: 'support',
  }),
  ...Span,
});

const Runs = {
  runs: z.int().meta({ description: 'Executions, including drafts but not evaluation examples.' }),
  failed: z.int(),
  tokens: TokenUsage,
  cost: CostAmount,
  unpriced: z.int().meta({ description: 'Runs of models without a known price, excluded from the cost.' }),
  latency: z
    .object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() })
    .meta({ description: 'The response time of the models.' }),
};

const Statistics = z
  .object({
    prompt_name: z.string(),
    ...Runs,
    latency: Runs.latency.meta({
      description: `The response time of the models in the newest ${LATENCY_RUNS} completed runs.`,
    }),
    last_score: z
      .number()
      .nullable()
      .meta({ description: 'The score of the newest completed evaluation, regardless of the period.' }),
    last_evaluation_id: z.string().nullable(),
    last_run_at: Timestamp.nullable().meta({ description: 'The time of the last run, regardless of the period.' }),
  })
  .meta({ id: 'PromptStatistics' });

export const StatisticsPage = pageOf(Statistics)
  .extend({ since: Timestamp, until: Timestamp })
  .meta({ id: 'PromptStatisticsPage' });

export const PromptSeries = z
  .object({
    prompt_name: z.string(),
    since: Timestamp.meta({
      description: `When counting starts; later than requested if there are very many runs. For days that are not yet summarized, at most ${MAX_COUNTED_RUNS} runs are counted.`,
    }),
    until: Timestamp,
    runs: z
      .array(
        z.object({
          day: z.string().meta({ description: 'In UTC.', example: '2026-01-31' }),
          prompt_version: z.int().nullable().meta({ description: 'Null for drafts run instead of a version.' }),
          ...Runs,
        }),
      )
      .meta({ description: 'By day and version, oldest first. Days without a run are left out.' }),
    scores: z
      .array(
        z.object({
          evaluation_id: z.string(),
          prompt_version: z.int(),
          dataset: z
            .object({ name: z.string(), version: z.int() })
            .nullable()
            .meta({ description: 'Null for inline examples.' }),
          score: z.number(),
          interval: z.object({ low: z.number(), high: z.number() }).meta({
            description:
              "Wilson's 95 % interval of the score. Exact if all examples score 0 or 1, otherwise wider than necessary.",
          }),
          finished_at: Timestamp,
        }),
      )
      .meta({ description: `The newest ${MAX_SCORES} evaluations that have completed, oldest first.` }),
  })
  .meta({ id: 'PromptSeries' });
