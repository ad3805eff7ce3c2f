import { z } from 'zod';
import { isOfTraces, scoreOf } from '../../domain/analysis/check.ts';
import {
  defaultRecovery,
  MAX_CHECKS,
  MAX_WINDOW_MS,
  MIN_WINDOW_MS,
  MONITOR_METRICS,
  type MonitorCheck,
} from '../../domain/monitors/monitor.ts';
import { monitorStates } from '../../domain/monitors/monitor-states.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { MovableLabel } from '../../domain/prompts/label.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { nameProblem } from '../../domain/resource-name.ts';
import { scoreNameProblem } from '../../domain/scores/score-name.ts';
import { durationText } from '../../domain/text/duration-text.ts';
import { Name, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { hiding, shown, unread } from '../../http/unread.ts';
import { metricOf, Span } from '../releases/steps-schema.ts';

/** Segments that are reserved after the first. */
const MONITOR_RESERVED: ReadonlySet<string> = new Set(['history']);

/** What is wrong with a monitor's name, in words for the caller; undefined if it is valid. */
const monitorNameProblem = (name: string) => nameProblem(name, MONITOR_RESERVED);

export const MonitorName = nameSchema(monitorNameProblem, 'support/errors');

export const MonitorParams = z.object({ name: MonitorName });

/** A duration between one minute and one day. */
const MinuteToDay = Span.refine(
  (text) => spanMs(text) >= MIN_WINDOW_MS && spanMs(text) <= MAX_WINDOW_MS,
  `must be from ${durationText(MIN_WINDOW_MS)} to ${durationText(MAX_WINDOW_MS)}, such as 15m`,
);

const Limit = z.number('must be a number').min(-1e9, 'is too small').max(1e9, 'is too large');

const RATE = /_rate$/;
const DEFAULT_MIN_EXECUTIONS = 20;

const checkFields = {
  metric: metricOf(MONITOR_METRICS, true),
  above: Limit.optional().meta({
    description: 'Alerts if the metric is above this value: a rate (0–1), ms, US dollars or a score.',
  }),
  below: Limit.optional().meta({ description: 'Alerts if the metric is below this value. Set either above or below.' }),
};

const PutCheck = z
  .strictObject({
    ...checkFields,
    recover_at: Limit.optional().meta({
      description: 'The value that ends the alert. Default: a tenth better; see docs/monitors.md.',
    }),
    min_executions: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(1_000_000_000)
      .optional()
      .meta({
        description: `The check is skipped with fewer executions (or scores) in the window. Default: ${DEFAULT_MIN_EXECUTIONS}; 0 for \`cost_total\`.`,
      }),
    for: MinuteToDay.default('2m').meta({
      description:
        'The time for which the condition must hold, at every measurement, to alert or to recover. Measured once a minute.',
    }),
  })
  .superRefine(({ metric, above, below, recover_at: recovery }, context) => {
    const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if ((above === undefined) === (below === undefined)) {
      fault(
        'above',
        above === undefined ? 'is required, or below' : 'cannot be combined with below: create two checks',
      );
      return;
    }
    const side = above === undefined ? 'below' : 'above';
    const number = above ?? below ?? 0;
    const score = scoreOf(metric);
    const problem = score === undefined ? undefined : scoreNameProblem(score);
    if (problem !== undefined) fault('metric', `the name of the score ${problem}`);
    const isRate = RATE.test(metric);
    if (isRate && (number > 1 || (recovery ?? 0) > 1))
      fault(number > 1 ? side : 'recover_at', 'must be from 0 to 1: 5 % is 0.05');
    else if (isRate && above === 1) fault(side, 'must be less than 1: no rate is above it');
    else if (score === undefined) {
      if (number < 0 || (below !== undefined && number === 0))
        fault(side, `must be ${side === 'below' ? 'more than' : 'at least'} 0: this metric is never less`);
      else if (recovery !== undefined && recovery < 0)
        fault('recover_at', 'must be at least 0: this metric is never less');
    }
    if (recovery !== undefined && (above === undefined ? recovery < number : recovery > number))
      fault('recover_at', `must be at ${above === undefined ? 'least "below"' : 'most "above"'}, which is ${number}`);
  })
  .transform(
    ({ recover_at: recovery, min_executions: least, ...check }): MonitorCheck => ({
      ...check,
      recover_at: recovery ?? defaultRecovery(check),
      min_executions: least ?? (check.metric === 'cost_total' ? 0 : DEFAULT_MIN_EXECUTIONS),
    }),
  )
  .meta({ id: 'PutMonitorCheck' });

const Notify = z.strictObject({
  email: z.boolean('must be true or false').default(true).meta({
    description: 'Whether the workspace owner gets e-mails, if the operator has configured mail.',
  }),
});

export const PutMonitor = z
  .strictObject({
    prompt_name: Name.optional().meta({ description: 'Default: all prompts, including drafts.' }),
    label: MovableLabel.optional().meta({
      description: 'Only runs that requested this label.',
    }),
    window: MinuteToDay.meta({
      description: 'The time window of a measurement, by when runs ended: `1m` to `24h`.',
      example: '15m',
    }),
    checks: z
      .array(PutCheck, 'must be a list')
      .min(1, 'must have at least one check')
      .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} checks`),
    notify: Notify.default({ email: true }),
    enabled: z.boolean('must be true or false').default(true),
  })
  .refine(({ label, checks }) => label === undefined || !checks.some(({ metric }) => isOfTraces(metric)), {
    message: 'does not select traces: omit it, or omit the checks of traces',
    path: ['label'],
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: 'PutMonitor' });

const measuredFields = {
  metric: z.string(),
  value: z.number().nullable().meta({ description: 'Null if there was nothing to measure.' }),
  count: z.int().meta({ description: 'The number of executions or scores measured.' }),
};

const Values = z.array(z.object({ ...measuredFields, alerting: z.boolean() }).meta({ id: 'MonitorValue' }));

const MonitorStateSchema = z.enum(monitorStates.states).meta({
  id: 'MonitorState',
  description: '`no_data`: too few runs to evaluate the checks. `alerting`: at least one check does not hold.',
});

export const Monitor = hiding(
  z
    .object({
      name: shown(MonitorName),
      prompt_name: Name.nullable(),
      label: z.string().nullable(),
      window: shown(z.string()),
      checks: z.array(
        z
          .object({
            ...checkFields,
            metric: z.string(),
            recover_at: z.number(),
            min_executions: z.int(),
            for: z.string(),
          })
          .meta({ id: 'MonitorCheck' }),
      ),
      notify: shown(z.object({ email: z.boolean() })),
      enabled: shown(z.boolean()),
      state: unread(MonitorStateSchema, 'no_data'),
      since: shown(Timestamp.meta({ description: 'When the monitor entered this state.' })),
      values: Values.meta({ description: 'The latest measurements, in the order of `checks`.' }),
      last_checked_at: Timestamp.nullable(),
      created_at: shown(Timestamp),
      updated_at: shown(Timestamp),
    })
    .meta({ id: 'Monitor' }),
  ['state', 'values', 'last_checked_at'],
);

export const MonitorPage = pageOf(Monitor).meta({ id: 'MonitorPage' });

export const MonitorHistory = pageOf(
  z
    .object({
      at: Timestamp,
      previous_state: MonitorStateSchema,
      state: MonitorStateSchema,
      reason: z.string().meta({ description: 'The reason in words.' }),
      values: Values,
    })
    .meta({ id: 'MonitorChange' }),
).meta({ id: 'MonitorHistory' });

export const MonitorNumbers = z
  .object({
    data: z.array(
      z.object({
        at: Timestamp.meta({ description: 'The end of the window.' }),
        values: z.array(z.object(measuredFields)).meta({ description: 'In the order of the checks.' }),
      }),
    ),
  })
  .meta({ id: 'MonitorNumbers' });

export const ListQuery = z.strictObject(PageQuery);
