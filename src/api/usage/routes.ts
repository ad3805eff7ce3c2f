import { defineRoute, type Route } from '../../http/route.ts';
import { sumEvaluationUsage, sumRuleUsage, sumUsage } from '../../services/usage/sum-usage.ts';
import { usageSpan } from '../../services/usage/usage-span.ts';
import { presentRuleUsage, presentUsage } from './presenter.ts';
import { usageSample } from './samples.ts';
import { DEFAULT_DAYS, Usage, UsageQuery } from './schema.ts';

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
