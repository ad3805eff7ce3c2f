import { defineRoute, type Route } from '../../http/route.ts';
import { sumEvaluationUsage, sumRuleUsage, sumUsage } from '../../services/usage/sum-usage.ts';
import { usageSpan } from '../../services/usage/usage-span.ts';
import { presentRuleUsage, presentUsage } from './presenter.ts';
import { DEFAULT_DAYS, Usage, UsageQuery } from './schema.ts';

/** A sample for the documentation. */
const usageSample = {
  data: [
    {
      prompt_name: 'support/greeting',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      executions: 2,
      completed: 2,
      failed: 0,
      tokens: { input: 24, output: 16, cached_input: 0, reasoning: 0, total: 40 },
      cost: { amount: '0.0000132', currency: 'USD' },
      unpriced: 0,
      latency: { mean_ms: 611, responses: 2 },
    },
  ],
  evaluations: [
    {
      prompt_name: 'support/greeting',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      examples: 200,
      judgements: 0,
      tokens: { input: 2400, output: 1600, cached_input: 0, reasoning: 0, total: 4000 },
      cost: { amount: '0.00132', currency: 'USD' },
      unpriced: 0,
      latency: { mean_ms: 598, responses: 199 },
    },
  ],
  rules: [
    {
      rule: 'support/tone',
      model: 'openai/gpt-4o-mini',
      day: '2026-01-31',
      judgements: 120,
      tokens: { input: 48000, output: 6000, cached_input: 0, reasoning: 0, total: 54000 },
      cost: { amount: '0.0108', currency: 'USD' },
      unpriced: 0,
    },
  ],
  since: '2026-01-01T00:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** `/usage`. */
export function usageRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/usage',
      operationId: 'getUsage',
      tag: 'Usage',
      summary: 'Retrieve tokens, cost and latency by prompt, model and day',
      description:
        'Executions are in `data`; evaluation examples and their judges in `evaluations`; the judges of rules in `rules`. The total ' +
        'is the sum of the three.',
      scope: 'read',
      query: UsageQuery,
      response: Usage,
      responseExample: usageSample,
      async handler({ db, query }) {
        const now = new Date();
        const until = query.until ?? now;
        const since = query.since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
        const span = usageSpan(since, until, now);
        const filter = {
          span,
          promptNames: query.prompt_name === undefined ? undefined : [query.prompt_name],
          model: query.model,
        };
        const executions = await sumUsage(db.heavy.query, filter, query.group_by);
        const evaluations = await sumEvaluationUsage(db.heavy.query, filter, query.group_by);
        // Rules do not belong to a prompt.
        const rules =
          query.prompt_name === undefined
            ? await sumRuleUsage(db.heavy.query, { span, model: query.model }, query.group_by)
            : [];
        return {
          data: executions.map(presentUsage),
          evaluations: evaluations.map(presentUsage),
          rules: rules.map(presentRuleUsage),
          since: span.since.toISOString(),
          until: (until < now ? span.until : until).toISOString(),
        };
      },
    }),
  ];
}
