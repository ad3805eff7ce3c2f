import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { type EvaluatorSecrets, revealSecrets } from '../../services/evaluations/creation/evaluator-secrets.ts';
import type { ScheduleRow } from '../../services/schedules/schedules.ts';
import type { Schedule } from './schema.ts';

/** Presents a schedule. @param due its next due times; undefined to omit them */
export function presentSchedule(row: ScheduleRow, due?: Date[]): z.input<typeof Schedule> {
  return {
    id: publicId('schedule', row.id),
    name: row.name,
    cron: row.cron,
    time_zone: row.time_zone,
    paused: row.paused,
    evaluation: row.request.body,
    ...(due && { next_runs: due.map((time) => time.toISOString()) }),
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
  };
}

/** The same with the secrets of its evaluators, for the one response that shows them. */
export function presentNewSchedule(row: ScheduleRow, due: Date[], secrets: EvaluatorSecrets): z.input<typeof Schedule> {
  const { body, parsed } = row.request;
  const evaluators: JsonValue = JSON.parse(JSON.stringify(revealSecrets(parsed.evaluators, secrets)));
  return { ...presentSchedule(row, due), evaluation: { ...body, evaluators } };
}
