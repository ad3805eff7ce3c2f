import { z } from 'zod';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { CostAmount, TokenUsage } from '../../domain/usage.ts';
import { Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { USAGE_GROUPS } from '../../services/usage/sum-usage.ts';

/** How far back usage is summed unless `since` is given. */
export const DEFAULT_DAYS = 30;
const PRECISION =
  'Exact within the last two hours; an earlier time is rounded to the whole hour, as the response shows.';

export const UsageQuery = z
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
  prompt_name: z.string().nullable().optional().meta({ description: 'Null: drafts that were run on their own.' }),
  model: z
    .string()
    .optional()
    .meta({ description: 'Of an execution the model that responded, also for what others cost before.' }),
  day: z.string().optional(),
};
const Sums = {
  tokens: TokenUsage,
  cost: CostAmount,
  unpriced: z.int().meta({ description: 'Calls whose model has no known price: they are not in the cost.' }),
  latency: z
    .object({
      mean_ms: z.int().nullable().meta({ description: 'Null where no response was timed.' }),
      responses: z.int().meta({
        description: 'Those that were timed: no judgements, no reused ones, and none from before times were kept.',
      }),
    })
    .meta({ description: 'How long models took to respond, by the call that gave the response.' }),
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
          judgements: z
            .int()
            .meta({ description: 'Examples that a judge was asked about, under the model of the judge.' }),
          ...Sums,
        }),
      )
      .meta({ description: 'Examples of evaluations and their judges, which cost money too: not in `data`.' }),
    rules: z
      .array(
        z.object({
          rule: z.string().nullable().optional(),
          model: z.string().optional().meta({ description: "The judge's." }),
          day: z.string().optional(),
          judgements: z.int().meta({ description: 'Executions that a judge was asked about.' }),
          tokens: Sums.tokens,
          cost: Sums.cost,
          unpriced: Sums.unpriced,
        }),
      )
      .meta({
        description: 'Judges of rules, by rule where `group_by` has `prompt`. Empty where `prompt_name` is given.',
      }),
    since: Timestamp,
    until: Timestamp,
  })
  .meta({ id: 'Usage' });
