import { z } from 'zod';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { USAGE_GROUPS } from '../../services/usage/sum-usage.ts';

/** The number of days of usage that are summed unless `since` is set. */
export const DEFAULT_DAYS = 30;
const PRECISION =
  'Exact within the last two hours; an earlier time is rounded to the whole hour, as the response shows.';

export const UsageQuery = z
  .strictObject({
    since: TimestampInput.optional().meta({
      description: `Created at or after this; default: ${DEFAULT_DAYS} days ago. ${PRECISION}`,
    }),
    until: TimestampInput.optional().meta({ description: `Created before this; default: now. ${PRECISION}` }),
    prompt_name: Name.optional(),
    model: ModelName.optional(),
    group_by: z
      .string()
      .max(100)
      .default(USAGE_GROUPS.join(','))
      .transform((text, context) => {
        const groups = new Set(text.split(',').filter((group) => group !== ''));
        const { success, data } = z.array(z.enum(USAGE_GROUPS)).safeParse([...groups]);
        if (success) return data;
        context.addIssue({ code: 'custom', message: `must be any of ${USAGE_GROUPS.join(', ')}, separated by commas` });
        return z.NEVER;
      })
      .meta({ description: 'Any of prompt, model and day (UTC), separated by commas; empty for one total.' }),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    message: 'must be after since',
    path: ['until'],
  });

const Group = {
  prompt_name: z.string().nullable().optional().meta({ description: 'Null for drafts run without a prompt.' }),
  model: z.string().optional().meta({
    description: 'For executions, the model that responded; it also carries the cost of earlier failed models.',
  }),
  day: z.string().optional(),
};
const Sums = {
  tokens: TokenUsage,
  cost: CostAmount,
  unpriced: z.int().meta({ description: 'Calls to models without a known price, excluded from the cost.' }),
  latency: z
    .object({
      mean_ms: z.int().nullable().meta({ description: 'Null if no response was timed.' }),
      responses: z.int().meta({
        description:
          'Timed responses. Excludes judgements, reused responses, and responses stored before times were recorded.',
      }),
    })
    .meta({ description: 'The response time of the call that succeeded.' }),
};

export const Usage = z
  .object({
    data: z
      .array(z.object({ ...Group, executions: z.int(), completed: z.int(), failed: z.int(), ...Sums }))
      .meta({ description: 'Executions.' }),
    evaluations: z
      .array(
        z.object({
          ...Group,
          examples: z.int().meta({ description: 'Examples whose model was called.' }),
          judgements: z.int().meta({ description: 'Examples sent to a judge, counted under the model of the judge.' }),
          ...Sums,
        }),
      )
      .meta({ description: 'Evaluation examples and their judges, which also cost money; not included in `data`.' }),
    rules: z
      .array(
        z.object({
          rule: z.string().nullable().optional(),
          model: z.string().optional().meta({ description: 'The model of the judge.' }),
          day: z.string().optional(),
          judgements: z.int().meta({ description: 'Executions sent to a judge.' }),
          tokens: Sums.tokens,
          cost: Sums.cost,
          unpriced: Sums.unpriced,
        }),
      )
      .meta({
        description: 'Judges of rules, by rule if `group_by` contains `prompt`. Empty if `prompt_name` is set.',
      }),
    since: Timestamp,
    until: Timestamp,
  })
  .meta({ id: 'Usage' });
