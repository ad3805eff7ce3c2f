import type { z } from 'zod';
import { Name } from '../../http/fields.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { listPromptStatistics } from '../../services/statistics/list-prompt-statistics.ts';
import { readPromptSeries } from '../../services/statistics/prompt-statistics.ts';
import { statisticsSpan } from '../../services/statistics/statistics-span.ts';
import { NameParams } from '../prompts/schema.ts';
import { presentRuns, presentScore, presentStatistics } from './presenter.ts';
import { PromptSeries, SeriesQuery, StatisticsPage, StatisticsQuery } from './schema.ts';

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
const statisticsSample: z.input<typeof StatisticsPage> = {
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

const seriesSample: z.input<typeof PromptSeries> = {
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

const tag = 'Statistics';

/** `/statistics` */
export function statisticsRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/statistics/prompts',
      operationId: 'listPromptStatistics',
      tag,
      summary: 'List runs, cost, latency and last score of each prompt, by name',
      description:
        'Runs, tokens and cost are the totals of `GET /usage`: a time more than two hours ago is rounded to the whole hour, as the ' +
        'response shows. Archived prompts are listed, too.',
      scope: 'read',
      query: StatisticsQuery,
      response: StatisticsPage,
      responseExample: statisticsSample,
      async handler({ db, query: { limit, cursor, group, since, until } }) {
        const now = new Date();
        const span = statisticsSpan(since, until, now);
        const page = await listPromptStatistics(db, { group, span, now }, limit, decodeCursor(cursor, Name));
        return {
          ...toPage(page, presentStatistics, ({ name }) => name),
          since: page.span.since.toISOString(),
          until: (page.span.until < now ? page.span.until : span.until).toISOString(),
        };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/statistics/prompts/{name}',
      operationId: 'getPromptStatistics',
      tag,
      summary: 'Retrieve runs of a prompt by day and version, and its evaluation scores',
      description:
        'The data of the prompt charts, from executions and evaluations created in the period. A day is summarized once it is over and ' +
        'its runs have ended; runs deleted later still count.',
      scope: 'read',
      params: NameParams,
      query: SeriesQuery,
      response: PromptSeries,
      responseExample: seriesSample,
      async handler({ db, params: { name }, query }) {
        const span = statisticsSpan(query.since, query.until, new Date());
        const { since, runs, scores } = await readPromptSeries(db, name, span);
        return {
          prompt_name: name,
          since: since.toISOString(),
          until: span.until.toISOString(),
          runs: runs.map(presentRuns),
          scores: scores.flatMap(presentScore),
        };
      },
    }),
  ];
}
