import { z } from 'zod';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { LATENCY_RUNS } from '../../services/statistics/list-prompt-statistics.ts';
import { MAX_COUNTED_RUNS, MAX_SCORES } from '../../services/statistics/prompt-statistics.ts';
import { DEFAULT_DAYS, MAX_DAYS } from '../../services/statistics/statistics-span.ts';

const Span = {
  since: TimestampInput.optional().meta({
    description: `Created at or after this; ${DEFAULT_DAYS} days before \`until\` unless given, ${MAX_DAYS} at most.`,
  }),
  until: TimestampInput.optional().meta({ description: 'Created before this; now unless given.' }),
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
  runs: z.int().meta({ description: 'Executions, drafts included; without the examples of evaluations.' }),
  failed: z.int(),
  tokens: TokenUsage,
  cost: CostAmount,
  unpriced: z.int().meta({ description: 'Runs whose model has no known price: they are not in the cost.' }),
  latency: z
    .object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() })
    .meta({ description: "Of the models' responses." }),
};

const Statistics = z
  .object({
    prompt_name: z.string(),
    ...Runs,
    latency: Runs.latency.meta({
      description: `Of the models' responses in the newest ${LATENCY_RUNS} runs that have completed.`,
    }),
    last_score: z
      .number()
      .nullable()
      .meta({ description: 'Of the newest evaluation that has completed, of any time.' }),
    last_evaluation_id: z.string().nullable(),
    last_run_at: Timestamp.nullable().meta({ description: 'When it was run last, at any time.' }),
  })
  .meta({ id: 'PromptStatistics' });

export const StatisticsPage = pageOf(Statistics)
  .extend({ since: Timestamp, until: Timestamp })
  .meta({ id: 'PromptStatisticsPage' });

export const PromptSeries = z
  .object({
    prompt_name: z.string(),
    since: Timestamp.meta({
      description: `From when on runs are counted: later than asked for where there are very many. Of days that are not summed up, ${MAX_COUNTED_RUNS} runs are counted.`,
    }),
    until: Timestamp,
    runs: z
      .array(
        z.object({
          day: z.string().meta({ description: 'In UTC.', example: '2026-01-31' }),
          prompt_version: z.int().nullable().meta({ description: 'Null: drafts that were run in place of a version.' }),
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
              "Wilson's 95 % interval of the score. Exact where examples score 0 or 1, else wider than need be.",
          }),
          finished_at: Timestamp,
        }),
      )
      .meta({ description: `The newest ${MAX_SCORES} evaluations that have completed, oldest first.` }),
  })
  .meta({ id: 'PromptSeries' });
