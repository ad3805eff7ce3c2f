import type { Logger } from 'pino';
import { bindWorkspace, type SystemDatabase } from '../db/database.ts';
import { createInTemporal } from '../services/schedules/create-in-temporal.ts';
import { withdrawSchedule } from '../services/schedules/create-schedule.ts';
import { SCHEDULE_COLUMNS, type ScheduleRow } from '../services/schedules/schedules.ts';
import { dueTimes, type Temporal } from '../services/schedules/temporal-schedule.ts';
import { reconcile, takeOverdue } from './reconcile.ts';

/** Each schedule now and then, whether Temporal still has it. */
const TAKE = {
  text: `${takeOverdue('schedules', 'true', `interval '5 minutes'`)}
         returning ${SCHEDULE_COLUMNS}, workspace_id, accepted_at is not null as accepted`,
};

type ScheduleToCheck = ScheduleRow & { workspace_id: string; accepted: boolean };

/**
 * Makes the schedules anew that Temporal has lost; what was due meanwhile is not made up for. One that no caller was told of,
 * since the process died while it was made, is withdrawn.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileSchedules(db: SystemDatabase, temporal: Temporal, log: Logger): Promise<void> {
  return reconcile<ScheduleToCheck>(db.query, log, {
    table: 'schedules',
    take: TAKE,
    async reconcile(schedule) {
      if (!schedule.accepted) {
        await withdrawSchedule(bindWorkspace(db.query, schedule.workspace_id), schedule.id, false);
        log.warn({ schedule_id: schedule.id }, 'withdrew a schedule that no caller had been told of');
        return;
      }
      if ((await dueTimes(temporal, schedule.id)) !== undefined) return;
      await createInTemporal(temporal, schedule);
      log.warn({ schedule_id: schedule.id }, 'made a schedule anew that Temporal had lost');
    },
  });
}
