import type { z } from 'zod';
import type { ComparableType, ComparableValue } from '../../domain/scores/agreement.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { AGREEMENT_BYTES, type Agreement as Compared, compareJudges } from '../../services/scores/judge-agreement.ts';
import { presentSubject } from '../scores/presenter.ts';
import { Agreement, AgreementQuery } from './schema.ts';

const shown = (type: ComparableType, value: ComparableValue) => (type === 'boolean' ? value === 1 : value);

const present = ({ score, type, versions, truncated }: Compared): z.input<typeof Agreement> => ({
  score,
  data_type: type,
  truncated,
  evaluators: versions.map((version) => ({
    rule: version.rule,
    version: version.version,
    model: version.model,
    n: version.subjects,
    undecided: version.undecided,
    measures: version.measures,
    same: version.same,
    mean_distance: version.meanDistance,
    better_than_chance: version.betterThanChance,
    verdict: version.verdict,
    disagreements_total: version.disagreementsTotal,
    disagreements: version.disagreements.map(({ subject, judge, people, reviewers, distance, reason }) => ({
      subject: presentSubject(subject),
      evaluator: shown(type, judge),
      people: shown(type, people),
      reviewers,
      distance,
      reason,
    })),
  })),
});

const example: z.input<typeof Agreement> = {
  score: 'helpful',
  data_type: 'boolean',
  truncated: false,
  evaluators: [
    {
      rule: 'helpfulness',
      version: '5f2a9c01',
      model: 'openai/gpt-4o-mini',
      n: 140,
      undecided: 3,
      measures: [{ name: 'cohen_kappa', value: 0.62, interval: { lower: 0.49, upper: 0.75 } }],
      same: 0.84,
      mean_distance: null,
      better_than_chance: true,
      verdict: 'Better than chance: substantial agreement with people (0.62, 95 % interval 0.49 to 0.75).',
      disagreements_total: 23,
      disagreements: [
        {
          subject: { execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10' },
          evaluator: true,
          people: false,
          reviewers: 2,
          distance: 1,
          reason: 'The answer is polite and complete.',
        },
      ],
    },
  ],
};

/** `/evaluators/agreement`: compares evaluators with human scores. */
export function agreementRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/evaluators/agreement',
      operationId: 'getEvaluatorAgreement',
      tag: 'Scores',
      summary: 'Compare evaluator scores with human scores',
      description:
        "For up to 50 evaluator versions that give the score, newest first: Cohen's kappa for booleans and categories, weighted kappas for " +
        "ordered categories and for whole or half numbers, and Spearman's correlation for numbers. If several people scored a subject, the most frequent category or the median counts.",
      scope: 'read',
      errors: ['not_found'],
      query: AgreementQuery,
      response: Agreement,
      responseExample: example,
      async handler(request) {
        const { score, rule, ...question } = request.query;
        await request.reserve(AGREEMENT_BYTES);
        return present(await compareJudges(request.db.heavy.query, { score, rule, ...question }));
      },
    }),
  ];
}
