import type { Logger } from 'pino';
import type { SystemDatabase } from '../../db/database.ts';
import { SCHEDULE_COLUMNS, type ScheduleRow } from './schedules.ts';
import { createInTemporal, dueTimes, type Temporal } from './temporal-schedule.ts';

/** Each schedule now and then, by one process at a time. One that was created just now may be on its way to Temporal. */
const TAKE = {
  text: `update schedules set checked_at = now() where id in (
           select id from schedules where coalesce(checked_at, created_at) < now() - interval '5 minutes'
           order by coalesce(checked_at, created_at) limit 100 for update skip locked)
         returning ${SCHEDULE_COLUMNS}`,
};

/**
 * Makes the schedules anew that Temporal has lost. What was due meanwhile is not made up for.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export async function rescueSchedules(db: SystemDatabase, temporal: Temporal, log: Logger): Promise<void> {
  for (const schedule of await db.query<ScheduleRow & Record<string, unknown>>(TAKE)) {
    if ((await dueTimes(temporal, schedule.id)) !== undefined) continue;
    await createInTemporal(temporal, schedule);
    log.warn({ schedule_id: schedule.id }, 'made a schedule anew that Temporal had lost');
  }
}
