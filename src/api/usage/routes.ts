import { z } from 'zod';
import { Cost, TokenUsage } from '../../domain/usage.ts';
import { ModelName, Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { sumEvaluationUsage, sumUsage, USAGE_GROUPS, type UsageRow, usageSpan } from '../../services/usage/usage.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_DAYS = 30;
const PRECISION = 'Exact within the last two hours; an earlier time is taken to the whole hour, as the answer shows.';

const UsageQuery = z
  .strictObject({
    since: TimestampInput.optional().meta({
      description: `Created at or after this; ${DEFAULT_DAYS} days ago unless given. ${PRECISION}`,
    }),
    until: TimestampInput.optional().meta({ description: `Created before this; now unless given. ${PRECISION}` }),
    prompt_name: Name.optional(),
    model: ModelName.optional(),
    group_by: z
      .string()
      .max(100)
      .default(USAGE_GROUPS.join(','))
      .transform((text) => [...new Set(text.split(',').filter((group) => group !== ''))])
      .pipe(z.array(z.enum(USAGE_GROUPS, `must be any of ${USAGE_GROUPS.join(', ')}, separated by commas`)))
      .meta({ description: 'Any of prompt, model and day (UTC), separated by commas; empty for one total.' }),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    message: 'must be after since',
    path: ['until'],
  });

const Group = { prompt_name: z.string().optional(), model: z.string().optional(), day: z.string().optional() };
const Sums = {
  tokens: TokenUsage,
  cost: Cost.pick({ amount: true, currency: true }),
  unpriced: z.int().meta({ description: 'Answers whose model has no known price: not in the cost.' }),
};

const Usage = z
  .object({
    data: z
      .array(z.object({ ...Group, executions: z.int(), completed: z.int(), failed: z.int(), ...Sums }))
      .meta({ description: 'Executions.' }),
    evaluations: z
      .array(
        z.object({
          ...Group,
          examples: z.int().meta({ description: 'Examples whose model was called.' }),
          judgements: z
            .int()
            .meta({ description: 'Examples that a judge was asked about, under the model of the judge.' }),
          ...Sums,
        }),
      )
      .meta({ description: 'Examples of evaluations and their judges, which cost money too: not in `data`.' }),
    since: Timestamp,
    until: Timestamp,
  })
  .meta({ id: 'Usage' });

type SumColumns = Pick<
  UsageRow,
  'tokens_input' | 'tokens_output' | 'tokens_cached_input' | 'tokens_reasoning' | 'cost_amount'
>;

function presentSums<Row extends SumColumns>({
  tokens_input,
  tokens_output,
  tokens_cached_input,
  tokens_reasoning,
  cost_amount,
  ...row
}: Row) {
  return {
    ...row,
    tokens: {
      input: Number(tokens_input),
      output: Number(tokens_output),
      cached_input: Number(tokens_cached_input),
      reasoning: Number(tokens_reasoning),
      total: Number(tokens_input) + Number(tokens_output),
    },
    cost: { amount: cost_amount, currency: 'USD' as const },
  };
}

/** `/usage`. */
export function usageRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/usage',
      operationId: 'getUsage',
      tag: 'Usage',
      summary: 'Tokens and cost by prompt, model and day',
      description:
        'Executions in `data`; the examples of evaluations and their judges in `evaluations`. All together is the sum of both.',
      scope: 'read',
      query: UsageQuery,
      response: Usage,
      responseExample: {
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
          },
        ],
        since: '2026-01-01T00:00:00.000Z',
        until: '2026-02-01T00:00:00.000Z',
      },
      async handler({ db, query }) {
        const now = new Date();
        const until = query.until ?? now;
        const since = query.since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
        const span = usageSpan(since, until, now);
        const filter = { span, promptName: query.prompt_name, model: query.model };
        const executions = await sumUsage(db.heavy.query, filter, query.group_by);
        const evaluations = await sumEvaluationUsage(db.heavy.query, filter, query.group_by);
        return {
          data: executions.map(presentSums),
          evaluations: evaluations.map(presentSums),
          since: span.since.toISOString(),
          until: (until < now ? span.until : until).toISOString(),
        };
      },
    }),
  ];
}
