import { Name } from '../../http/fields.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { listPromptStatistics } from '../../services/statistics/list-prompt-statistics.ts';
import { readPromptSeries } from '../../services/statistics/prompt-statistics.ts';
import { statisticsSpan } from '../../services/statistics/statistics-span.ts';
import { NameParams } from '../prompts/schema.ts';
import { presentRuns, presentScore, presentStatistics } from './presenter.ts';
import { seriesSample, statisticsSample } from './samples.ts';
import { PromptSeries, SeriesQuery, StatisticsPage, StatisticsQuery } from './schema.ts';

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
