import { z } from 'zod';
import { AnyJson } from '../../domain/text/json-object.ts';
import { storableString, Timestamp } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';
import { shown, unread } from '../../http/unread.ts';
import { ScheduledEvaluation } from '../evaluations/create-schema.ts';

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const Cron = z
  .string('must be a string')
  .max(200, 'must be at most 200 characters')
  .regex(
    /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$|^[\dA-Za-z*,/?-]+( +[\dA-Za-z*,/?-]+){4}$/,
    'must be five fields (minute hour day month weekday), such as "0 6 * * 1-5"',
  )
  .meta({
    description: 'Five fields: minute, hour, day of month, month, weekday; or an alias such as `@daily`.',
    example: '0 6 * * 1-5',
  });

export const CreateSchedule = z
  .strictObject({
    name: storableString().min(1, 'must not be empty').max(100, 'must be at most 100 characters'),
    cron: Cron,
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
      .default('UTC')
      .meta({ description: 'IANA time zone of `cron`.', example: 'Europe/Berlin' }),
    paused: z.boolean().default(false),
    evaluation: ScheduledEvaluation,
  })
  .meta({ id: 'CreateSchedule' });

export const Schedule = z
  .object({
    id: shown(z.string().meta({ example: 'sched_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    name: shown(z.string()),
    cron: shown(z.string()),
    time_zone: shown(z.string()),
    paused: shown(z.boolean()),
    evaluation: unread(
      AnyJson.meta({
        override: {
          description:
            'The evaluation to start, as given. Its secrets appear only in the response that creates the schedule.',
        },
      }),
      {},
    ),
    next_runs: shown(
      z
        .array(Timestamp)
        .optional()
        .meta({ description: 'The next start times; empty while paused. Omitted in lists.' }),
    ),
    last_error: z
      .object({ code: z.string(), message: z.string(), at: Timestamp })
      .nullable()
      .meta({ description: 'Why the last start failed; null once a start succeeds.' }),
    created_at: shown(Timestamp),
  })
  .meta({ id: 'Schedule' });

export const SchedulePage = pageOf(Schedule).meta({ id: 'SchedulePage' });
