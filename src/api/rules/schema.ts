import { z } from 'zod';
import { nameSchema } from '../../domain/name-schema.ts';
import { Label } from '../../domain/prompts/label.ts';
import { nameProblem } from '../../domain/resource-name.ts';
import { backfillStates } from '../../domain/rules/backfill-states.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { GivenEvaluators } from '../../evaluators/registry.ts';
import { Name, pathId, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { MaxCost } from '../evaluations/create-schema.ts';
import { ExecutionFilterBody } from '../executions/filter-schema.ts';
import { TraceFilterBody } from '../traces/filter-schema.ts';

/** Segments that are reserved after the first. */
const RULE_RESERVED: ReadonlySet<string> = new Set(['backfill', 'backfills']);

/** What is wrong with a rule's name, in words for the caller; undefined if it is valid. */
function ruleNameProblem(name: string): string | undefined {
  return nameProblem(name, RULE_RESERVED);
}

export const RuleName = nameSchema(ruleNameProblem, 'support/tone');

export const RuleParams = z.object({ name: RuleName });
export const BackfillParams = z.object({ name: RuleName, id: pathId('backfill') });
export const ListQuery = z.strictObject(PageQuery);

export const PutRule = z
  .strictObject({
    prompt_name: Name.optional().meta({ description: 'Only executions of this prompt. Default: all prompts.' }),
    group: Name.optional().meta({ description: 'Only executions of prompts whose name starts with this and a `/`.' }),
    label: Label.optional().meta({ description: 'Only executions that requested this label.' }),
    filter: ExecutionFilterBody.refine(
      ({ status }) => status === undefined || status === 'completed',
      'a rule scores completed executions: leave status out',
    )
      .optional()
      .meta({ description: 'An additional filter, applied when executions are scored.' }),
    trace_filter: TraceFilterBody.optional().meta({
      description:
        'Scores traces instead of executions: those that match when they are settled, and again if they change after that. Empty: all traces. Excludes ' +
        '`prompt_name`, `group`, `label` and `filter`.',
    }),
    sample_rate: z
      .number('must be a number')
      .min(0, 'must be from 0 to 1')
      .max(1, 'must be from 0 to 1')
      .default(1)
      .meta({
        description: 'The share of executions or traces to score, chosen by a hash of rule and execution or trace.',
      }),
    evaluators: GivenEvaluators.meta({
      description: 'As for evaluations, except those that compare with an expected value.',
    }),
    max_cost_per_day: MaxCost.nullable().default(null).meta({
      description:
        'The maximum cost of its judges per UTC day, in US dollars. Executions and traces beyond it are skipped. Null: no limit.',
    }),
    enabled: z.boolean('must be true or false').default(true),
  })
  .refine(({ prompt_name, group }) => prompt_name === undefined || group === undefined, {
    message: 'give either prompt_name or group, not both',
    path: ['group'],
  })
  .check(({ value, issues }) => {
    for (const field of ['prompt_name', 'group', 'label', 'filter'] as const)
      if (value.trace_filter !== undefined && value[field] !== undefined)
        issues.push({
          code: 'custom',
          message: 'is for executions: with a trace_filter, give conditions there',
          input: value[field],
          path: [field],
        });
  })
  .meta({ id: 'PutRule' });

const LastError = z
  .object({ code: z.string(), message: z.string(), at: Timestamp })
  .nullable()
  .meta({ description: 'The reason why the most recent execution without a score has none.' });
const Amount = z.string().meta({ description: 'US dollars, decimal.', example: '0.0132' });

export const Rule = z
  .object({
    name: shown(z.string()),
    prompt_name: shown(z.string().nullable()),
    group: shown(z.string().nullable()),
    label: shown(z.string().nullable()),
    filter: shown(AnyJson.nullable().meta({ override: { description: 'As given; null: none.' } })),
    trace_filter: shown(
      AnyJson.nullable().meta({ override: { description: 'As given; null: the rule scores executions.' } }),
    ),
    sample_rate: shown(z.number()),
    evaluators: z.array(AnyJson).meta({
      description: 'As given. Secrets of `http` evaluators appear only in the response that creates them.',
    }),
    max_cost_per_day: shown(z.string().nullable()),
    enabled: shown(z.boolean()),
    scored: shown(z.int().meta({ description: 'Executions (or traces) that have all their scores.' })),
    failed: shown(z.int().meta({ description: 'Executions without a score.' })),
    skipped: shown(z.int().meta({ description: 'Executions skipped after waiting for a day.' })),
    skipped_budget: shown(z.int().meta({ description: 'Executions skipped because the budget was used up.' })),
    spent: shown(Amount),
    spent_today: shown(Amount.meta({ description: 'US dollars spent of `max_cost_per_day`, decimal.' })),
    waiting: shown(
      z
        .int()
        .optional()
        .meta({ description: 'Executions waiting to be scored; 10,000 means 10,000 or more. Omitted in lists.' }),
    ),
    last_error: LastError,
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
  })
  .meta({ id: 'Rule' });

export const RulePage = pageOf(Rule).meta({ id: 'RulePage' });

export const CreateBackfill = z
  .strictObject({
    since: TimestampInput.meta({ description: 'Executions created at or after this time.' }),
    until: TimestampInput.optional().meta({ description: 'Executions created before this time. Default: now.' }),
    max_cost: MaxCost.nullable().default(null).meta({
      description: 'The maximum cost in US dollars, separate from the budget of the rule. Null: no limit.',
    }),
  })
  .refine(({ since, until = new Date() }) => since < until, {
    message: 'must be before until (default: now)',
    path: ['since'],
  })
  .meta({ id: 'CreateBackfill' });

export const ResumeBackfill = z
  .strictObject({ max_cost: MaxCost.nullable().optional().meta({ description: 'A higher budget, or null for none.' }) })
  .meta({ id: 'ResumeBackfill' });

export const Backfill = z
  .object({
    id: shown(z.string().meta({ example: 'bf_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12' })),
    rule: shown(z.string()),
    since: shown(Timestamp),
    until: shown(Timestamp),
    max_cost: shown(z.string().nullable()),
    status: shown(z.enum(backfillStates.states as [string, ...string[]])),
    status_reason: shown(z.string().nullable()),
    progress: shown(z.number().meta({ description: 'The share of the period searched so far, 0–1.' })),
    found: shown(z.int().meta({ description: 'Executions to score found so far.' })),
    scored: shown(z.int()),
    failed: shown(z.int()),
    spent: shown(Amount),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    last_error: LastError,
    created_at: shown(Timestamp),
    finished_at: shown(Timestamp.nullable()),
  })
  .meta({ id: 'Backfill' });

export const BackfillPage = pageOf(Backfill).meta({ id: 'BackfillPage' });
