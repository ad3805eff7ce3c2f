import { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, RawResponse, type Route } from '../../http/route.ts';
import { compareEvaluations } from '../../services/evaluations/compare-evaluations.ts';
import { getEvaluation } from '../../services/evaluations/evaluations.ts';
import { eachResultPage, listResults } from '../../services/evaluations/results.ts';
import { CompareParams, EvaluationComparison } from './compare-schema.ts';
import { presentResult } from './presenter.ts';
import { resultsAsCsv } from './results-csv.ts';
import { ResultPage, ResultsQuery } from './results-schema.ts';
import { COMPARISON_SAMPLE, RESULT_SAMPLE } from './samples.ts';
import { EvaluationParams } from './schema.ts';

const tag = 'Evaluations';

/** The results of an evaluation, and how they differ from those of another. */
export function evaluationResultsRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/results',
      operationId: 'listEvaluationResults',
      tag,
      summary: 'List the results of the examples',
      scope: 'read',
      params: EvaluationParams,
      query: ResultsQuery,
      response: ResultPage,
      responseExample: { data: [RESULT_SAMPLE], next_cursor: null },
      otherContentTypes: ['text/csv'],
      async handler({ db, params, query: { limit, cursor, format, ...filter } }) {
        const run = await getEvaluation(db.query, params.id);
        const after = decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
        if (format === 'csv') {
          const names = run.evaluators.map(({ name }) => name);
          const csv = resultsAsCsv(eachResultPage(db.heavy.query, run.id, filter), names);
          return new RawResponse('text/csv', csv, {
            'Content-Disposition': `attachment; filename="${publicId('evaluation', run.id)}.csv"`,
          });
        }
        const page = await listResults(
          db.query,
          run.id,
          filter,
          limit,
          after === undefined ? undefined : Number(after),
        );
        return toPage(page, presentResult, (row) => String(row.seq));
      },
    }),
    defineRoute({
      method: 'get',
      path: '/evaluations/{id}/compare/{other}',
      operationId: 'compareEvaluations',
      tag,
      summary: 'What changed from another evaluation to this one',
      description:
        '`{other}` is the run before (`a` in the response), `{id}` the run after (`b`): a regression is an example that scores ' +
        'lower in `{id}`. The interval and the verdict tell noise from a real difference.',
      scope: 'read',
      params: CompareParams,
      response: EvaluationComparison,
      responseExample: COMPARISON_SAMPLE,
      errors: ['invalid_state'],
      handler: ({ db, params }) => compareEvaluations(db, params.other, params.id),
    }),
  ];
}
